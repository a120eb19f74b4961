import { columns, defineEntity, p } from '#libs/orm/entities';
import { AccountSchema } from './account.entity.ts';

/** A service key with its secret, and up to two from before while rotations overlap. */
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
