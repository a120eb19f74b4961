/** Building blocks for background work: batches, polling, lease renewal, and a table for in-flight items. */
export { type Batcher, createBatcher } from './batcher.ts';
export { renewLease, renewPeriodically } from './lease.ts';
export { Poller, type PollRun } from './poller.ts';
export { Slab } from './slab.ts';
