/** Contracts as frozen data: how services and routes are declared (architecture#contracts). */
export { Type } from './type.ts';
export { nullable } from './type.ts';
export type { Static, TObject, TProperties, TSchema } from 'typebox';
export * from './callers.ts';
export { conversationAccess } from './callers.ts';
export * from './declarations.ts';
export * from './feed.ts';
export * from './route.ts';
export {
  type AuditEntry,
  type AuditLink,
  auditLink,
  auditRpcs,
  type PublicAuditEntry,
  publicAuditEntry,
} from './audit.ts';
export * from './callers.ts';
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
export { isPossibleId, maxId, rowId } from './type.ts';
export { changeOrigin, type ChangeOrigin } from './origin.ts';
export { limitParameter } from './type.ts';
export { listParameter } from './type.ts';
export { idempotencyKeyHeader } from './route.ts';
export { singleLine } from './type.ts';
export {
  consumerLag,
  jobCount,
  type ProcessStatus,
  type ServiceStatus,
  statusRpcs,
  webhookCount,
  type Finding,
} from './service-admin.ts';
export {
  maxListedReplays,
  maxReplayed,
  replayCounts,
  replayLists,
  type WebhookChange,
  webhookAdminRpcs,
  webhookDetails,
  type WebhookItem,
  webhookItem,
  webhookKinds,
} from './webhook-admin.ts';
export { TimelineItem, type TimelineFact, timelineRpcs } from './timeline.ts';
export { workspacePage } from './service-admin.ts';
