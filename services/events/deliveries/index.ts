/** What other features use of deliveries. */
export { scheduleEndpoint } from './statements.ts';
