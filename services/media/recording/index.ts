/** Imports of recordings, for the clean-up. */
export { dropImport } from './statements.ts';
