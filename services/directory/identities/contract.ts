/** Operations on identities of an identity provider, linked to accounts (rules/access#identity-provider). */
import { byGateway, byOperators, type ErrorReasons, singleLine, nullable, rpc, Type } from '#libs/contract';
import { actorFacts, instant, rowId } from '../api-objects/contract.ts';

const issuer = singleLine({ minLength: 1, maxLength: 512, description: 'As in `iss` of its tokens.' });
const subject = singleLine({ minLength: 1, maxLength: 255, description: 'As in `sub` of its tokens.' });
const email = Type.String({ minLength: 1, maxLength: 320 });

/** An identity as a token reports it. */
const reportedIdentity = {
  issuer,
  subject,
  email: Type.Optional(
    singleLine({ maxLength: 320, description: 'Verified by the issuer; unverified emails are omitted.' }),
  ),
};

const Identity = Type.Object({
  issuer: Type.String(),
  subject: Type.String(),
  linked_by: Type.Enum(['operator', 'email'], { description: '`email`: on first use, by a verified email.' }),
  linked_at: instant('Time of the link.'),
});
const linked = Type.Object({
  account: Type.Object({ id: rowId, email: Type.String() }),
  issuer: Type.String(),
  subject: Type.String(),
  changed: Type.Boolean({ description: 'False if nothing changed.' }),
});

const notFound = {
  account_not_found: { code: 'not_found', when: 'No account has that email.' },
} as const satisfies ErrorReasons;
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
    subject: 'admin.directory.identities.link',
    callers: byOperators,
    audit: 'account.link',
    summary: 'Links an identity to the account with the email (S2).',
    request: Type.Object({ email, subject, issuer: Type.Optional(issuer) }),
    reply: linked,
    errors: {
      ...notFound,
      ...noIssuer,
      identity_linked: { code: 'conflict', when: 'The identity is linked to another account; the message names it.' },
    },
  }),
  unlinkIdentity: rpc({
    subject: 'admin.directory.identities.unlink',
    callers: byOperators,
    audit: 'account.unlink',
    summary:
      'Unlinks an identity from the account. It is no longer accepted, and identities are no longer linked to the account by email.',
    request: Type.Object({ email, subject, issuer: Type.Optional(issuer) }),
    reply: linked,
    errors: { ...notFound, ...noIssuer },
  }),
  listIdentities: rpc({
    subject: 'admin.directory.identities.list',
    callers: byOperators,
    summary: 'Lists identities of an account, oldest first.',
    request: Type.Object({ email }),
    reply: Type.Object({
      items: Type.Array(Identity),
      unlinked_at: nullable(
        instant(
          'Time at which an operator unlinked an identity; linking by email is disabled until an operator links one again.',
        ),
      ),
    }),
    errors: notFound,
  }),
} as const;
