/** What others need of deliveries: to have an endpoint dispatched. */
export type { DeliveryScheduler } from './scheduler.ts';
export { scheduleEndpoint } from './statements.ts';
