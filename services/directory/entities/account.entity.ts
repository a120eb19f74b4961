/** Tables of accounts, login sessions, the login throttle, and authority over holons. */
import { columns, defineEntity, p } from '#libs/infrastructure/orm/entities';
import { HolonSchema } from './holon.entity.ts';
import { PersonSchema } from './person.entity.ts';

export const AccountSchema = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  schema: 'directory',
  properties: {
    id: p.integer().primary().autoincrement(),
    email: p.text(),
    person: () => p.manyToOne(PersonSchema).nullable().ref(),
    passwordHash: p.text().nullable(),
    isActive: p.boolean().default(true),
    superuser: p.boolean().default(false),
    globalEditor: p.boolean().default(false),
    groups: p.array().$type<string[]>().columnType('text[]').default([]),
    createdAt: columns.now(),
    updatedAt: columns.now(),
    /** Time at which an operator unlinked an identity. Null again once an identity is linked. */
    unlinkedAt: p.string().columnType('timestamptz').nullable(),
  },
});

/** Login account. The email is unique, ignoring case. */
export class Account extends AccountSchema.class {}
AccountSchema.setClass(Account);

export const LoginSessionSchema = defineEntity({
  name: 'LoginSession',
  tableName: 'login_sessions',
  schema: 'directory',
  properties: {
    sessionKey: p.text().primary(),
    account: () => p.manyToOne(AccountSchema).ref(),
    secretSha256: p.blob(),
    createdAt: columns.now(),
    expiresAt: p.string().columnType('timestamptz'),
    revokedAt: p.string().columnType('timestamptz').nullable(),
    /** The session is accepted only from the console (S3). */
    forConsole: p.boolean().default(false),
  },
});

/** The pending invitation of an account, which sets its password (W7). Only a hash of the token is stored. */
export const InvitationSchema = defineEntity({
  name: 'Invitation',
  tableName: 'invitations',
  schema: 'directory',
  properties: {
    account: () => p.manyToOne(AccountSchema).primary().ref(),
    tokenSha256: p.blob(),
    createdAt: columns.now(),
    expiresAt: p.string().columnType('timestamptz'),
  },
});

/** Failed logins and gate key attempts. Attempts are instants in order, and `infinity` for a rejected attempt. */
export const LoginAttemptSchema = defineEntity({
  name: 'LoginAttempt',
  tableName: 'login_attempts',
  schema: 'directory',
  properties: {
    key: p.text().primary(),
    attemptedAt: p.array().$type<string[]>().columnType('timestamptz[]'),
    updatedAt: p.string().columnType('timestamptz'),
  },
});

export const TeamAuthoritySchema = defineEntity({
  name: 'TeamAuthority',
  tableName: 'team_authority',
  schema: 'directory',
  properties: {
    account: () => p.manyToOne(AccountSchema).primary().ref(),
    holon: () => p.manyToOne(HolonSchema).primary().ref(),
    isActive: p.boolean().default(true),
  },
});

/** Issuer and subject of an identity provider, linked to an account. */
export const IdentitySchema = defineEntity({
  name: 'Identity',
  tableName: 'identities',
  schema: 'directory',
  properties: {
    issuer: p.text().primary(),
    subject: p.text().primary(),
    account: () => p.manyToOne(AccountSchema).ref(),
    linkedBy: p.text(),
    linkedAt: columns.now(),
  },
});

/** A service key with its secret, and up to two earlier secrets during a rotation overlap. */
export const ServiceKeySchema = defineEntity({
  name: 'ServiceKey',
  tableName: 'service_keys',
  schema: 'directory',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    account: () => p.manyToOne(AccountSchema).ref(),
    scopes: p.array().$type<string[]>().columnType('text[]'),
    secretSha256: p.blob(),
    previousSha256: p.blob().nullable(),
    previousUntil: p.string().columnType('timestamptz').nullable(),
    oldestSha256: p.blob().nullable(),
    oldestUntil: p.string().columnType('timestamptz').nullable(),
    createdAt: columns.now(),
    createdByAccount: () => p.manyToOne(AccountSchema).nullable().ref(),
    createdByKeyId: p.text().nullable(),
    expiresAt: p.string().columnType('timestamptz').nullable(),
    lastUsedAt: p.string().columnType('timestamptz').nullable(),
    revokedAt: p.string().columnType('timestamptz').nullable(),
  },
});
