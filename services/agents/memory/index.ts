/** What is remembered of threads, and the jobs that remember it. */
export { maxKnowledgePerAgent, type ReplyMemory } from './rules.ts';
export { dropSummaries } from './statements.ts';
export { readMemory } from './stored-memory.ts';
export { enqueueThreadMemory, type EnqueueAgentMemory } from './workers.ts';
