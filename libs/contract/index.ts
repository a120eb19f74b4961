/** Contracts as frozen data: the words in which services and routes are declared (architecture#contracts). */
export { Type } from './type.ts';
export { nullable } from './nullable.ts';
export type { Static, TObject, TProperties, TSchema } from 'typebox';
export * from './callers.ts';
export { conversationAccess } from './conversation-access.ts';
export * from './declarations.ts';
export * from './feed.ts';
export * from './route.ts';
export { type AuditEntry, type AuditLink, auditLink, auditRpcs, type PublicAuditEntry, publicAuditEntry } from './audit.ts';
export * from './scopes.ts';
export {
  type JobChange,
  type JobItem,
  type LatestJob,
  jobAdminRpcs,
  jobDetailsSchema,
  jobSchema,
  jobStates,
  maxJobIds,
} from './job-admin.ts';
export { isPossibleId, maxId, rowId } from './ids.ts';
export { limitParameter } from './limit.ts';
export { listParameter } from './list-parameter.ts';
export { idempotencyKeyHeader } from './idempotency-key.ts';
export { singleLine } from './single-line.ts';
export { receiptFilter, receiptList, receiptReplay, receiptReplayResult } from './receipt-filter.ts';
export { consumerLag, jobCount, type ProcessStatus, type ServiceStatus, statusRpcs, webhookCount } from './service-status.ts';
export {
  maxReplayed,
  type WebhookChange,
  webhookAdminRpcs,
  webhookDetails,
  type WebhookItem,
  webhookItem,
  webhookKinds,
} from './webhook-admin.ts';
export { workspacePage } from './workspace-page.ts';
