/** Uploads under way: recorded before their first byte, swept when they give no sign of life. */
export { discardUpload, type LeaseDependencies, openLease, type StoreLease } from './lease.ts';
export { abandonUpload, beginUpload, endUpload, renewUpload } from './statements.ts';
