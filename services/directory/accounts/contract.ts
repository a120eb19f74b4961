/** Operations on accounts, login sessions and the caller's own login (rules/cli#admin-cli, rules/access#own-login). */
import {
  byGateway,
  byOperators,
  byUsers,
  event,
  notAnOperator,
  nullable,
  rpc,
  singleLine,
  Type,
  withoutActor,
} from '#libs/infrastructure/contract';
import { FieldChange } from '#libs/product/history';
import {
  actorFacts,
  anyId,
  ifMatch,
  instant,
  limitParameter,
  maxNameLength,
  offsetParameter,
  page,
  PersonPublic,
  rowId,
  v1Errors,
} from '../api-objects/contract.ts';
import { Account, accountListQuery, accountUpdate, newAccount } from './schemas.ts';

export * from './schemas.ts';

const email = Type.String({ minLength: 1, maxLength: 320 });

const facts = {
  id: rowId,
  email: Type.String(),
  person_id: nullable(rowId),
  is_active: Type.Boolean(),
  superuser: Type.Boolean(),
  global_editor: Type.Boolean(),
  groups: Type.Array(Type.String()),
};
const account = Type.Object(facts);
const changedAccount = Type.Object({ ...facts, changed: Type.Boolean({ description: 'False if nothing changed.' }) });

const notFound = { account_not_found: { code: 'not_found', when: 'No account has that email.' } } as const;
const badPerson = { person_not_found: { code: 'not_found', when: 'No person has that id or key.' } } as const;
const badGroup = {
  unknown_group: { code: 'bad_request', when: 'The group does not exist; the message lists the groups.' },
} as const;
const badPassword = {
  weak_password: { code: 'bad_request', when: 'The password is shorter than 12 characters, or easy to guess.' },
  public_password: { code: 'bad_request', when: 'The password appears in the documentation; rejected in production.' },
} as const;

const person = Type.Optional(Type.Union([rowId, Type.String()], { description: 'Id or workspace key of the person.' }));
const groupNames = Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 150 }), { maxItems: 100 }));

const naming = {
  request: Type.Object({ ids: Type.Array(rowId, { maxItems: 1_000 }), email: Type.Optional(email) }),
  reply: Type.Object({ items: Type.Array(Type.Object({ id: rowId, email: Type.String() })) }),
};

const sessionActor = Type.Object({
  ...actorFacts,
  sessionKey: Type.String({ description: 'Session of the token, which logout revokes.' }),
});

export const accountRpcs = {
  nameAccounts: rpc({
    subject: 'directory.accounts.name',
    callers: byUsers,
    summary: 'Returns emails of accounts by id, and the account of an email; requires access to operations (A3).',
    ...naming,
    errors: notAnOperator,
  }),
  findReader: rpc({
    subject: 'directory.accounts.find-reader',
    callers: { events: withoutActor },
    summary: "Returns the rights that decide which events an account's endpoints receive (V7).",
    request: Type.Object({ account_id: rowId }),
    reply: Type.Object({
      reader: nullable(
        Type.Object({
          account_id: rowId,
          person_id: nullable(rowId),
          superuser: Type.Boolean(),
          global_editor: Type.Boolean(),
          coherence_access: Type.Boolean(),
        }),
      ),
      exists: Type.Boolean({ description: 'True without a reader if the account is deactivated or has no person.' }),
    }),
  }),
  createAccount: rpc({
    subject: 'admin.directory.accounts.create',
    callers: byOperators,
    audit: 'account.create',
    summary: 'Creates an account, with or without password and person.',
    request: Type.Object({
      email,
      password: Type.Optional(Type.String()),
      person,
      service_name: Type.Optional(
        singleLine({
          minLength: 1,
          maxLength: maxNameLength,
          description: 'Name of a person of the kind `service`, created with the account.',
        }),
      ),
      superuser: Type.Optional(Type.Boolean()),
      global_editor: Type.Optional(Type.Boolean()),
      groups: groupNames,
    }),
    reply: account,
    errors: {
      ...badPerson,
      ...badGroup,
      ...badPassword,
      invalid_email: { code: 'bad_request', when: 'The email is not an email address.' },
      account_exists: { code: 'conflict', when: 'The email belongs to another account.' },
      service_account: {
        code: 'bad_request',
        when: 'The service account has a blank name, a password or an existing person.',
      },
    },
  }),
  setPassword: rpc({
    subject: 'admin.directory.accounts.set-password',
    callers: byOperators,
    audit: 'account.set-password',
    summary: "Sets the password and revokes the account's tokens.",
    request: Type.Object({
      email,
      password: Type.String(),
      revoke_keys: Type.Optional(Type.Boolean({ description: "Also revokes the account's service keys." })),
    }),
    reply: changedAccount,
    errors: { ...notFound, ...badPassword },
  }),
} as const;

const oneAccount = Type.Object({ account: Account });
/** An invitation without its token, which the gateway derives from the seed. */
const sealedInvitation = Type.Object({
  seed: Type.String(),
  expires_at: Type.String({ format: 'date-time' }),
});
/** The token of a new invitation: what the gateway derives it from, and its SHA-256 in base64url. */
const invitationToken = {
  seed: Type.String({ maxLength: 100 }),
  token_sha256: Type.String({ maxLength: 100 }),
};
const notSuperuser = v1Errors.denied('The caller is not a superuser.');
const unknownAccount = v1Errors.notFound('The account does not exist.');
const lastSuperuser = {
  last_superuser: { code: 'conflict', when: 'No active superuser would remain.' },
} as const;

/** Errors of the routes that the gateway serves with a handler. */
export const accountErrors = {
  create: {
    ...notSuperuser,
    ...v1Errors.validation('The email is not an email address, or a person, group or holon does not exist.'),
    email_taken: { code: 'conflict', when: 'The email belongs to another account, which can be inactive.' },
  },
  reset: {
    ...notSuperuser,
    ...unknownAccount,
    ...v1Errors.precondition,
    account_inactive: { code: 'conflict', when: 'The account is deactivated.' },
  },
} as const;

/** Accounts in the open API, for superusers (W7). */
export const managedAccountRpcs = {
  searchAccounts: rpc({
    subject: 'directory.accounts.search',
    callers: byUsers,
    summary: 'Lists accounts by email (W19).',
    request: accountListQuery,
    reply: Type.Object({
      items: Type.Array(Account, { description: 'By email.' }),
      next: nullable(Type.String({ description: '`cursor` of the next page; null after the last one.' })),
    }),
    errors: { ...notSuperuser, ...v1Errors.validation('The group does not exist, or the cursor is malformed.') },
  }),
  getAccount: rpc({
    subject: 'directory.accounts.get',
    callers: byUsers,
    summary: 'Returns an account (W7).',
    request: Type.Object({ account_id: anyId('Id of the account.') }),
    reply: oneAccount,
    errors: { ...notSuperuser, ...unknownAccount },
  }),
  inviteAccount: rpc({
    subject: 'directory.accounts.invite',
    callers: byUsers,
    audit: 'account.create',
    idempotent: true,
    summary: 'Creates an account without a password, and an invitation that sets the password (W7).',
    request: Type.Object({ ...newAccount.properties, ...invitationToken }),
    reply: Type.Object({ account: Account, invitation: sealedInvitation }),
    errors: accountErrors.create,
  }),
  updateAccount: rpc({
    subject: 'directory.accounts.update',
    callers: byUsers,
    audit: 'account.update',
    idempotent: true,
    summary: 'Changes rights, person and state of an account (W7).',
    request: Type.Object({ account_id: anyId('Id of the account.'), ...accountUpdate.properties, ...ifMatch }),
    reply: Type.Object({
      account: Account,
      changes: Type.Record(Type.String(), FieldChange, {
        description: 'Changed fields of the request, with old and new values.',
      }),
    }),
    errors: {
      ...notSuperuser,
      ...unknownAccount,
      ...v1Errors.precondition,
      ...v1Errors.validation('A person, group or holon does not exist.'),
      ...lastSuperuser,
    },
  }),
  deleteAccount: rpc({
    subject: 'directory.accounts.delete',
    callers: byUsers,
    audit: 'account.delete',
    summary: 'Permanently deletes an account with its sessions and keys; its person remains.',
    request: Type.Object({ account_id: anyId('Id of the account.'), ...ifMatch }),
    reply: Type.Object({}),
    errors: { ...notSuperuser, ...unknownAccount, ...v1Errors.precondition, ...lastSuperuser },
  }),
  resetAccountPassword: rpc({
    subject: 'directory.accounts.reset-password',
    callers: byUsers,
    audit: 'account.reset-password',
    idempotent: true,
    summary: 'Removes the password, ends all sessions and creates an invitation that sets a new password (W19).',
    request: Type.Object({ account_id: anyId('Id of the account.'), ...ifMatch, ...invitationToken }),
    reply: Type.Object({ invitation: sealedInvitation }),
    errors: accountErrors.reset,
  }),
  acceptInvitation: rpc({
    subject: 'directory.accounts.accept-invitation',
    callers: byGateway,
    audit: 'account.accept-invitation',
    summary: 'Sets the password of the invited account and ends the invitation (W19).',
    request: Type.Object({ token_sha256: Type.String({ maxLength: 100 }), password: Type.String(), ip: Type.String() }),
    reply: Type.Object({ email: Type.String() }),
    errors: {
      ...badPassword,
      invitation_ended: {
        code: 'gone',
        when: 'The invitation is used, replaced, expired or unknown, or its account is deactivated.',
      },
    },
  }),
} as const;

export const sessionRpcs = {
  login: rpc({
    subject: 'directory.sessions.login',
    callers: byGateway,
    audit: 'login',
    summary: 'Exchanges email and password for a token valid for 24 hours (rules/access#login; D40).',
    request: Type.Object({
      email: Type.String(),
      password: Type.String(),
      ip: Type.String(),
      without_gate_key: Type.Optional(
        Type.Boolean({
          description:
            'True for the console, which has no gate key: separate limits and queue, and a token that only the console accepts (S3).',
        }),
      ),
    }),
    reply: Type.Object({
      token: Type.String({ description: '`svc_agentic_<session_key>_<secret>`. Returned only once.' }),
      token_type: Type.Literal('Bearer'),
      expires_at: Type.String({ format: 'date-time', description: 'With explicit offset.' }),
      expires_in_seconds: Type.Integer(),
      person: PersonPublic,
    }),
  }),
  refuseLogin: rpc({
    subject: 'directory.sessions.refuse-login',
    callers: byGateway,
    audit: 'login',
    summary:
      'Rejects a login with a wrong gate key: same work and error as a wrong password (D40), separate throttle (D76).',
    request: Type.Object({ ip: Type.String() }),
    reply: Type.Object({}),
  }),
  logout: rpc({
    subject: 'directory.sessions.logout',
    callers: byUsers,
    audit: 'logout',
    summary: "Revokes the session of the caller's token.",
    request: Type.Object({}),
    reply: Type.Object({ revoked: Type.Literal(true) }),
    errors: { permission_denied: { code: 'permission_denied', when: 'The token was not issued by a login.' } },
  }),
  verifySession: rpc({
    subject: 'directory.sessions.verify',
    callers: byGateway,
    summary:
      'Returns the actor of a session token. Unauthenticated if the token is unknown, expired, revoked, belongs to an inactive account, or is used through the wrong entry (console or API).',
    request: Type.Object({
      token: Type.String({ maxLength: 8_192 }),
      for_console: Type.Optional(
        Type.Boolean({
          description:
            'True for requests of the console, which accepts only its own sessions; these are not accepted elsewhere (S3).',
        }),
      ),
    }),
    reply: Type.Object({ actor: sessionActor, expires_at: Type.String({ format: 'date-time' }) }),
    timeoutMs: 5_000,
  }),
  whoami: rpc({
    subject: 'directory.sessions.whoami',
    callers: byUsers,
    summary: "The caller's person (GET /api/v1/auth/whoami).",
    request: Type.Object({}),
    reply: Type.Object({
      authenticated: Type.Literal(true),
      person: PersonPublic,
      key: nullable(
        Type.Object(
          { id: Type.String(), name: Type.String(), scopes: Type.Array(Type.String()) },
          { description: 'Service key of the request; null for session tokens.' },
        ),
      ),
    }),
  }),
} as const;

/** Default number of sessions per page (rules/http#limits). */
export const sessionsPerPage = 50;

export const sessionsQuery = Type.Object({
  limit: limitParameter({ usual: sessionsPerPage, most: 200 }),
  offset: offsetParameter,
});

const Session = Type.Object(
  {
    id: Type.String({
      description: 'Identifier of the session, not secret: the part of the token between the second and third `_`.',
    }),
    created_at: instant('Time of the login.'),
    expires_at: instant('Time at which it expires.'),
    current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
  },
  { $id: 'Session', description: 'An active login session.' },
);

const notForKeys = v1Errors.denied('The token was not issued by a login.');

/** Operations on the caller's own login (rules/access#own-login). */
export const ownLoginRpcs = {
  changePassword: rpc({
    subject: 'directory.accounts.change-password',
    callers: byUsers,
    audit: 'account.set-password',
    summary: "Changes the password of the caller's account and revokes its sessions.",
    request: Type.Object({ current: Type.String(), new: Type.String(), ip: Type.String() }),
    reply: Type.Object({
      changed: Type.Literal(true),
      revoked_sessions: Type.Integer({
        minimum: 0,
        description: 'Number of revoked sessions, including the session of the request.',
      }),
    }),
    errors: {
      ...badPassword,
      ...notForKeys,
      wrong_password: { code: 'permission_denied', when: 'The current password is wrong.' },
    },
  }),
  listSessions: rpc({
    subject: 'directory.sessions.list',
    callers: byUsers,
    summary: "Lists active sessions of the caller's account, newest first.",
    request: sessionsQuery,
    reply: page(Session),
    errors: notForKeys,
  }),
  revokeSession: rpc({
    subject: 'directory.sessions.revoke',
    callers: byUsers,
    audit: 'session.revoke',
    summary: "Revokes a session of the caller's account; sessions of other accounts return 404.",
    request: Type.Object({ session_id: Type.String({ maxLength: 16_384 }) }),
    reply: Type.Object({ revoked: Type.Literal(true) }),
    errors: { ...notForKeys, ...v1Errors.notFound("No session of the caller's account has that id.") },
  }),
} as const;

export const sessionEvents = {
  sessionsRevoked: event({
    subject: 'events.directory.sessions.revoked',
    subscribers: ['api-gateway'],
    summary: 'Session tokens became invalid, or the rights of their account changed.',
    payload: Type.Object({ session_keys: Type.Array(Type.String()) }),
  }),
} as const;
