/** Operations on identities of an identity provider, linked to accounts (rules/access#identity-provider). */
import { byGateway, byUsers, type ErrorReasons, singleLine, nullable, rpc, Type } from '#libs/infrastructure/contract';
import { actorFacts, anyId, instant, rowId, v1Errors } from '../api-objects/contract.ts';

const issuer = singleLine({ minLength: 1, maxLength: 512, description: 'As in `iss` of its tokens.' });
const subject = singleLine({ minLength: 1, maxLength: 255, description: 'As in `sub` of its tokens.' });

/** An identity as a token reports it. */
const reportedIdentity = {
  issuer,
  subject,
  email: Type.Optional(
    singleLine({ maxLength: 320, description: 'Verified by the issuer; unverified emails are omitted.' }),
  ),
};

export const Identity = Type.Object(
  {
    issuer: Type.String(),
    subject: Type.String(),
    linked_by: Type.Enum(['operator', 'email'], { description: '`email`: on first use, by a verified email.' }),
    linked_at: instant('Time of the link.'),
  },
  { $id: 'AccountIdentity', description: 'An identity of an identity provider, linked to an account.' },
);
const linked = Type.Object({
  account: Type.Object({ id: rowId, email: Type.String() }),
  issuer: Type.String(),
  subject: Type.String(),
  changed: Type.Boolean({ description: 'False if nothing changed.' }),
});

export const namedIdentity = Type.Object(
  { subject, issuer: Type.Optional(issuer) },
  { $id: 'NamedIdentity', description: 'An identity; the default `issuer` is OIDC_ISSUER.' },
);
const accountId = { account_id: anyId('Id of the account.') };
const denied = {
  ...v1Errors.denied('The caller is not a superuser.'),
  ...v1Errors.notFound('The account does not exist.'),
};
const noIssuer = {
  no_issuer: { code: 'bad_request', when: '`issuer` is absent and OIDC_ISSUER is not set.' },
} as const satisfies ErrorReasons;

export const identityRpcs = {
  verifyIdentity: rpc({
    subject: 'directory.identities.verify',
    callers: byGateway,
    audit: 'account.link',
    summary:
      'Returns the actor of an identity. Unauthenticated unless it is linked to an active account. With OIDC_LINK_BY_EMAIL unknown identities are linked by email (S2, S5).',
    request: Type.Object(reportedIdentity),
    reply: Type.Object({ actor: Type.Object(actorFacts) }),
    timeoutMs: 5_000,
  }),
  signInIdentity: rpc({
    subject: 'directory.identities.sign-in',
    callers: byGateway,
    audit: 'login',
    summary: 'Creates a token for the console, valid for 24 hours, after sign-in at an identity provider (S3).',
    request: Type.Object({ ...reportedIdentity, ip: Type.String() }),
    reply: Type.Object({
      token: Type.String({ description: '`svc_agentic_<session_key>_<secret>`. Returned only once.' }),
    }),
    errors: { permission_denied: { code: 'permission_denied', when: 'The account has no person.' } },
  }),
  linkIdentity: rpc({
    subject: 'directory.identities.link',
    callers: byUsers,
    audit: 'account.link',
    idempotent: true,
    summary: 'Links an identity to an account (S2).',
    request: Type.Object({ ...accountId, ...namedIdentity.properties }),
    reply: linked,
    errors: {
      ...denied,
      ...noIssuer,
      identity_linked: { code: 'conflict', when: 'The identity is linked to another account; the message names it.' },
    },
  }),
  unlinkIdentity: rpc({
    subject: 'directory.identities.unlink',
    callers: byUsers,
    audit: 'account.unlink',
    idempotent: true,
    summary:
      'Unlinks an identity from the account. It is no longer accepted, and identities are no longer linked to the account by email.',
    request: Type.Object({ ...accountId, ...namedIdentity.properties }),
    reply: linked,
    errors: { ...denied, ...noIssuer },
  }),
  listIdentities: rpc({
    subject: 'directory.identities.list',
    callers: byUsers,
    summary: 'Lists identities of an account, oldest first.',
    request: Type.Object(accountId),
    reply: Type.Object({
      items: Type.Array(Identity),
      unlinked_at: nullable(
        instant(
          'Time at which an operator unlinked an identity; linking by email is disabled until an operator links one again.',
        ),
      ),
    }),
    errors: denied,
  }),
} as const;
