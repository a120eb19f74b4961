import { columns, defineEntity, p } from '#libs/infrastructure/orm/entities';
import { AccountSchema } from './account.entity.ts';
import { JourneyStepSchema } from './holon.entity.ts';

/** Changes to a step's configuration by dotted path (rules/steps#step-configuration). */
export const StepConfigAuditSchema = defineEntity({
  name: 'StepConfigAudit',
  tableName: 'step_config_audit',
  schema: 'directory',
  properties: {
    id: p.integer().primary().autoincrement(),
    step: () => p.manyToOne(JourneyStepSchema).ref(),
    account: () => p.manyToOne(AccountSchema).nullable().ref(),
    source: p.text(),
    paths: p.array().$type<string[]>().columnType('text[]'),
    changedAt: columns.now(),
  },
});

/** Erasures: id of the erased person, operator, and removed rows per kind. */
export const ErasureSchema = defineEntity({
  name: 'Erasure',
  tableName: 'erasures',
  schema: 'directory',
  properties: {
    id: p.integer().primary().autoincrement(),
    personId: p.integer(),
    operator: p.text(),
    counts: p.json<Record<string, number>>(),
    erasedAt: columns.now(),
  },
});

/** An erasure in progress, or finished within 30 days (W20). `identity` is null when it is done. */
export const PersonErasureSchema = defineEntity({
  name: 'PersonErasure',
  tableName: 'person_erasures',
  schema: 'directory',
  properties: {
    id: columns.bigint().primary().autoincrement(),
    personId: p.integer(),
    state: p.text().default('running'),
    services: p.json(),
    identity: p.json().nullable(),
    requester: p.json(),
    operator: p.text(),
    round: p.integer().default(1),
    startedAt: columns.now(),
    finishedAt: p.string().columnType('timestamptz').nullable(),
  },
});

/** A chunk of a workspace document that is too large for one message. Removed after an hour. */
export const WorkspaceUploadSchema = defineEntity({
  name: 'WorkspaceUpload',
  tableName: 'workspace_uploads',
  schema: 'directory',
  properties: {
    uploadId: p.text().primary(),
    part: p.integer().primary(),
    body: p.text(),
    createdAt: columns.now(),
  },
});

/** A deleted holon of a private class, with the accounts that can still read its events by team authority (W21). */
export const DeletedPrivateHolonSchema = defineEntity({
  name: 'DeletedPrivateHolon',
  tableName: 'deleted_private_holons',
  schema: 'directory',
  properties: {
    holonId: p.integer().primary(),
    accountIds: p.array().$type<number[]>().columnType('integer[]'),
  },
});
