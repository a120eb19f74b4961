/** The chat runtime, and the threads and turns that it records. */
export type { ChatRuntime } from './runtime.ts';
export { rekeyThread } from './statements/rekey-thread.ts';
export { findTurn } from './statements/threads.ts';
export { TurnFailure } from './turn-failure.ts';
