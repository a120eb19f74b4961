/** Caller for whom the directory changes data of other services, in work that outlasts the caller's request. */
import type { Static } from 'typebox';
import { nullable, Type } from './type.ts';

export const changeOrigin = Type.Object(
  {
    account_id: nullable(Type.Integer({ description: 'Null: the admin CLI.' })),
    key_id: nullable(Type.String({ description: 'The service key.' })),
    via: nullable(Type.String({ maxLength: 20, description: 'The client program, for the history.' })),
  },
  { description: 'Caller that asked for the work.' },
);
export type ChangeOrigin = Static<typeof changeOrigin>;
