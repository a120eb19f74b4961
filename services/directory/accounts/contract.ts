/** Accounts, for the admin CLI: who may log in, and as what (rules/cli#admin-cli). */
import { byOperators, rpc, Type } from '#libs/contract';

const id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
const email = Type.String({ minLength: 1, maxLength: 320 });
const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

/** Every group that gives its members something; there are no others. */
export const accountGroups = ['coherence_users'] as const;

const facts = {
  id,
  email: Type.String(),
  person_id: nullable(id),
  is_active: Type.Boolean(),
  superuser: Type.Boolean(),
  global_editor: Type.Boolean(),
  groups: Type.Array(Type.String()),
};
const account = Type.Object(facts);
const changedAccount = Type.Object({ ...facts, changed: Type.Boolean({ description: 'False when the account was so already.' }) });
const listedAccount = Type.Object({
  ...facts,
  person_name: nullable(Type.String()),
  has_password: Type.Boolean({ description: 'Without one nobody can log in.' }),
  created_at: Type.String({ format: 'date-time' }),
});

const notFound = { account_not_found: { code: 'not_found', when: 'No account has that email.' } } as const;
const badPerson = { person_not_found: { code: 'not_found', when: 'No person has that id or key.' } } as const;
const badGroup = { unknown_group: { code: 'bad_request', when: 'There is no such group; the message names those that exist.' } } as const;
const badPassword = {
  weak_password: { code: 'bad_request', when: 'The password is shorter than 12 characters, or easy to guess.' },
  public_password: { code: 'bad_request', when: 'The password stands in the documents; refused in production.' },
} as const;

const person = Type.Optional(Type.Union([id, Type.String()], { description: 'Id or workspace key of the person.' }));
const groupNames = Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 150 }), { maxItems: 100 }));

export const accountRpcs = {
  listAccounts: rpc({
    subject: 'admin.directory.accounts.list',
    callers: byOperators,
    summary: 'Accounts in the order of their emails, page by page.',
    request: Type.Object({
      after: Type.Optional(Type.String({ maxLength: 320, description: 'The last email of the page before.' })),
      limit: Type.Integer({ minimum: 1, maximum: 1_000 }),
      is_active: Type.Optional(Type.Boolean()),
      superuser: Type.Optional(Type.Boolean()),
      group: Type.Optional(Type.String({ maxLength: 150 })),
    }),
    reply: Type.Object({ items: Type.Array(listedAccount), next: nullable(Type.String({ description: '`after` of the next page.' })) }),
    errors: badGroup,
  }),
  createAccount: rpc({
    subject: 'admin.directory.accounts.create',
    callers: byOperators,
    summary: 'Creates an account, with or without password and person.',
    request: Type.Object({
      email,
      password: Type.Optional(Type.String()),
      person,
      superuser: Type.Optional(Type.Boolean()),
      global_editor: Type.Optional(Type.Boolean()),
      groups: groupNames,
    }),
    reply: account,
    errors: {
      ...badPerson,
      ...badGroup,
      ...badPassword,
      invalid_email: { code: 'bad_request', when: 'The email is no address.' },
      account_exists: { code: 'conflict', when: 'An account has that email already.' },
    },
    idempotent: false,
  }),
  setPassword: rpc({
    subject: 'admin.directory.accounts.set-password',
    callers: byOperators,
    summary: "Sets the password and revokes the account's tokens.",
    request: Type.Object({ email, password: Type.String() }),
    reply: changedAccount,
    errors: { ...notFound, ...badPassword },
  }),
  deactivateAccount: rpc({
    subject: 'admin.directory.accounts.deactivate',
    callers: byOperators,
    summary: 'Deactivates the account and revokes its tokens.',
    request: Type.Object({ email }),
    reply: changedAccount,
    errors: notFound,
  }),
  grantAccount: rpc({
    subject: 'admin.directory.accounts.grant',
    callers: byOperators,
    summary: 'Changes what an account may do; only what is named changes.',
    request: Type.Object({
      email,
      superuser: Type.Optional(Type.Boolean()),
      global_editor: Type.Optional(Type.Boolean()),
      add_groups: groupNames,
      remove_groups: groupNames,
      activate: Type.Optional(Type.Boolean()),
      person,
    }),
    reply: changedAccount,
    errors: { ...notFound, ...badPerson, ...badGroup },
  }),
  deleteAccount: rpc({
    subject: 'admin.directory.accounts.delete',
    callers: byOperators,
    summary: 'Deletes the account for good and revokes its tokens; its person stays.',
    request: Type.Object({ email }),
    reply: account,
    errors: notFound,
  }),
} as const;
