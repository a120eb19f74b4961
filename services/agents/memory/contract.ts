/** The jobs that remember. */
import { job, Type } from '#libs/contract';

/** A model that is away does not use attempts up (workers.ts); one that replies nonsense does. */
const memoryPolicy = { maxAttempts: 5, firstDelayMs: 5_000, maxDelayMs: 900_000, timeoutMs: 300_000, concurrency: 2 } as const;

export const memoryJobs = {
  threadMemory: job({
    type: 'agents.thread-memory',
    summary: 'Makes facts and a rolling summary of the turns of a thread that were recorded since the last time',
    payload: Type.Object({ thread_id: Type.Integer() }),
    policy: memoryPolicy,
  }),
  agentMemory: job({
    type: 'agents.agent-memory',
    summary: 'Makes the summary of what an agent knows of its subject from the notes of all its threads',
    payload: Type.Object({ agent_id: Type.Integer() }),
    policy: memoryPolicy,
  }),
};
