/** Accounts, their login sessions and their authority over holons. */
import { defineEntity, p } from '@mikro-orm/core';
import { HolonSchema } from './holon.entity.ts';
import { PersonSchema } from './person.entity.ts';
import { instant } from './columns.ts';

/** Two accounts with one email, whatever its case. */
export const accountEmailUnique = 'accounts__email__unique';
/** A person that does not exist. */
export const accountPersonForeign = 'accounts__person_id__foreign';

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
    createdAt: instant(),
    updatedAt: instant(),
  },
});

/** Who may log in. The email is unique without regard to case. */
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
    createdAt: instant(),
    expiresAt: p.string().columnType('timestamptz'),
    revokedAt: p.string().columnType('timestamptz').nullable(),
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
