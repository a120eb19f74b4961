/** The chat runtime, and the threads and turns that it records. */
export { type Admit, visitorKey } from './admission.ts';
export { rekeyThread } from './rekey-thread.ts';
export type { ChatRuntime } from './runtime.ts';
export { findTakeover, findTakeoverByKey, lockThread } from './statements/takeovers.ts';
export { findTurn } from './statements/threads.ts';
export { TurnFailure } from './turn-failure.ts';
