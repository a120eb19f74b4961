import { columns, defineEntity, p } from '#libs/orm/entities';
import { AccountSchema } from './account.entity.ts';

/** Who an identity provider names, by issuer and subject, and the account that they are. */
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
