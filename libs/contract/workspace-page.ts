import { Type } from './type.ts';

/** One page of a list of the workspace file as it would be written now, for every service that has such a list (rules/workspace#workspace-file). */
export const workspacePage = {
  request: { after: Type.Integer({ minimum: 0, description: '`next` of the page before; 0 at first.' }) },
  reply: Type.Object({
    items: Type.Array(Type.Unknown({ description: 'As in the file; secrets are `{env: NAME}`, passwords are left out.' })),
    variables: Type.Array(Type.String(), { description: 'Names that stand in the place of secrets.' }),
    left_out: Type.Integer({ description: 'Rows that no file can name: people without a key, and what is theirs.' }),
    next: Type.Union([Type.Integer(), Type.Null()]),
  }),
} as const;
