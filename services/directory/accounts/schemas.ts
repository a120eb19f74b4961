/** Accounts as the open API returns and accepts them (W7, W12, W19). */
import { nullable, type Static, Type } from '#libs/infrastructure/contract';
import { instant, limitParameter, rowId, searchText } from '../api-objects/contract.ts';

/** All groups that grant rights. */
export const accountGroups = [
  'chat_agents',
  'coherence_users',
  'ops_operators',
  'ops_viewers',
  'workspace_editors',
] as const;

const team = { holon_id: Type.Integer({ description: 'The holon; the authority covers its descendants too.' }) };

export const Account = Type.Object(
  {
    id: rowId,
    email: Type.String(),
    person_id: nullable(Type.Integer({ description: 'The person; without one, the account cannot log in.' })),
    person_name: nullable(Type.String()),
    active: Type.Boolean({ description: 'False: logins, tokens and service keys are rejected.' }),
    superuser: Type.Boolean(),
    global_editor: Type.Boolean(),
    groups: Type.Array(Type.String()),
    teams: Type.Array(Type.Object({ ...team, active: Type.Boolean() }), { description: 'Team authority, by holon.' }),
    has_password: Type.Boolean({ description: 'Whether the account can log in with a password.' }),
    invitation_expires_at: nullable(
      instant('Expiry of the invitation that sets the password; null after its use and without one.'),
    ),
    created_at: instant('Creation time.'),
  },
  { $id: 'Account', description: 'A login account with its rights.' },
);

const rights = {
  person_id: Type.Optional(nullable(Type.Integer({ description: 'Id of a person; null for none.' }))),
  superuser: Type.Optional(Type.Boolean()),
  global_editor: Type.Optional(Type.Boolean()),
  groups: Type.Optional(
    Type.Array(Type.String({ maxLength: 150 }), {
      maxItems: 100,
      description: `All groups of the account: ${accountGroups.map((name) => `\`${name}\``).join(', ')}.`,
    }),
  ),
  teams: Type.Optional(
    Type.Array(Type.Object({ ...team, active: Type.Optional(Type.Boolean({ default: true })) }), {
      maxItems: 1_000,
      description: 'All team authority of the account.',
    }),
  ),
};
export const newAccount = Type.Object(
  { email: Type.String({ maxLength: 320, description: 'Unique, ignoring case.' }), ...rights },
  { $id: 'AccountCreate' },
);
/** Fields of an update. Absent fields remain unchanged; lists are replaced. */
export const accountUpdate = Type.Object(
  {
    active: Type.Optional(Type.Boolean({ description: 'False also ends sessions, service keys and the invitation.' })),
    ...rights,
  },
  { $id: 'AccountUpdate' },
);
export type AccountUpdate = Static<typeof accountUpdate>;

/** Default number of accounts per page (rules/http#limits). */
export const accountsPerPage = 50;

export const accountListQuery = Type.Object({
  q: Type.Optional(searchText('Part of the email, ignoring case.')),
  active: Type.Optional(Type.Boolean({ description: 'Only active accounts, or only deactivated ones.' })),
  superuser: Type.Optional(Type.Boolean({ description: 'Only superusers, or only other accounts.' })),
  group: Type.Optional(Type.String({ maxLength: 150, description: 'Only members of this group.' })),
  limit: limitParameter({ usual: accountsPerPage, most: 200 }),
  cursor: Type.Optional(Type.String({ maxLength: 1_000, description: '`next` of the previous page.' })),
});
