/** Exports for other features. */
export { scheduleEndpoint } from './statements.ts';
