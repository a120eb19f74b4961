/** Identities: whom an identity provider names, and the accounts that they are (rules/access#identity-provider). */
import { byGateway, byOperators, type ErrorReasons, singleLine, nullable, rpc, Type } from '#libs/contract';
import { actorFacts, instant, rowId } from '../api-objects/contract.ts';

const issuer = singleLine({ minLength: 1, maxLength: 512, description: 'As in the `iss` of its tokens.' });
const subject = singleLine({ minLength: 1, maxLength: 255, description: 'As in the `sub` of its tokens.' });
const email = Type.String({ minLength: 1, maxLength: 320 });

/** As a token names it. */
const seen = {
  issuer,
  subject,
  email: Type.Optional(singleLine({ maxLength: 320, description: 'One that the issuer has verified; no other is handed on.' })),
};

const Identity = Type.Object({
  issuer: Type.String(),
  subject: Type.String(),
  linked_by: Type.Enum(['operator', 'email'], { description: '`email`: at the first use, by an email that the issuer had verified.' }),
  linked_at: instant('When it was linked.'),
});
const linked = Type.Object({
  account: Type.Object({ id: rowId, email: Type.String() }),
  issuer: Type.String(),
  subject: Type.String(),
  changed: Type.Boolean({ description: 'False when it was so already.' }),
});

const notFound = { account_not_found: { code: 'not_found', when: 'No account has that email.' } } as const satisfies ErrorReasons;
const noIssuer = {
  no_issuer: { code: 'bad_request', when: 'No issuer is named, and OIDC_ISSUER is not set.' },
} as const satisfies ErrorReasons;

/** To be spread into the contract of the directory. */
export const identityRpcs = {
  verifyIdentity: rpc({
    subject: 'directory.identities.verify',
    callers: byGateway,
    audit: 'account.link',
    summary:
      'As whom an identity acts; unauthenticated when it is linked to no active account. With OIDC_LINK_BY_EMAIL an unknown one is linked by its email (S2, S5).',
    request: Type.Object(seen),
    reply: Type.Object({ actor: Type.Object(actorFacts) }),
    timeoutMs: 5_000,
  }),
  signInIdentity: rpc({
    subject: 'directory.identities.sign-in',
    callers: byGateway,
    audit: 'login',
    summary: 'A token valid for 24 hours, accepted from the console alone, for whom an identity provider has signed in there (S3).',
    request: Type.Object({ ...seen, ip: Type.String() }),
    reply: Type.Object({ token: Type.String({ description: '`svc_agentic_<session_key>_<secret>`, shown this once.' }) }),
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
      identity_linked: { code: 'conflict', when: 'The identity is linked to another account, which the message names.' },
    },
  }),
  unlinkIdentity: rpc({
    subject: 'admin.directory.identities.unlink',
    callers: byOperators,
    audit: 'account.unlink',
    summary:
      'Takes an identity from the account with the email; it is not accepted any more, and none is linked to the account by its email.',
    request: Type.Object({ email, subject, issuer: Type.Optional(issuer) }),
    reply: linked,
    errors: { ...notFound, ...noIssuer },
  }),
  listIdentities: rpc({
    subject: 'admin.directory.identities.list',
    callers: byOperators,
    summary: 'Identities of the account with the email, oldest first.',
    request: Type.Object({ email }),
    reply: Type.Object({
      items: Type.Array(Identity),
      unlinked_at: nullable(instant('When an operator unlinked one: none is linked by an email until an operator links one again.')),
    }),
    errors: notFound,
  }),
} as const;
