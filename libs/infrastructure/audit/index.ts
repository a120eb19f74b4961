/**
 * The audit log of a service (A1, A2): entries are written with the change that they record, in a hash chain that
 * reveals later modification (docs/adr/audit-log-hash-chain.md).
 */
export {
  type ChainBreak,
  type ChainEnd,
  type ChainPage,
  type ChainReport,
  ChainVerifier,
  hashLink,
  verifyChain,
} from './chain.ts';
export { auditHandlers, measureAudit } from './handlers.ts';
export { cursorFor, mergeEntries, readCursor, type ServiceEntry, writeCursor } from './pages.ts';
export {
  type AuditContext,
  changedFields,
  describeBulkAct,
  listSome,
  type NewAuditEntry,
  onBehalfOf,
  recordAudit,
} from './record.ts';
export { storeVerification, readLinks, removeOldEntries } from './statements.ts';
export { auditRetentionRights, auditRights, auditTables } from './tables.ts';
