/**
 * The audit log of a service (A1, A2): who did what to what, written with the change that it tells of, in a chain of hashes that shows whether
 * anything was changed since (docs/adr/audit-log-hash-chain.md).
 */
export { type ChainBreak, type ChainEnd, type ChainPage, type ChainReport, ChainVerifier, hashLink, verifyChain } from './chain.ts';
export { auditHandlers } from './handlers.ts';
export { measureAudit } from './metrics.ts';
export { beginOf, mergeEntries, readCursor, type ServiceEntry, writeCursor } from './pages.ts';
export { type AuditContext, changedFields, describeBulkAct, listSome, type NewAuditEntry, recordAudit } from './record.ts';
export { keepVerification, readLinks, removeOldEntries } from './statements.ts';
export { auditRetentionRights, auditRights, auditTables } from './tables.ts';
