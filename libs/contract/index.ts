/** Contracts as frozen data: the words in which services and routes are declared (architecture#contracts). */
export { Type } from 'typebox';
export type { Static, TObject, TProperties, TSchema } from 'typebox';
export * from './callers.ts';
export * from './declarations.ts';
export * from './route.ts';
export { jobAdminRpcs, jobDetailsSchema, jobSchema, jobStates } from './job-admin.ts';
export { line } from './line.ts';
export { receiptFilter, receiptList, receiptReplay, replayedReceipts } from './receipt-filter.ts';
export { workspacePage } from './workspace-page.ts';
