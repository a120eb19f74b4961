/** What is remembered of threads, and the jobs that remember it. */
export { maxKnowledgePerAgent, type RecalledMemory } from './rules.ts';
export { dropSummaries } from './statements.ts';
export { recall } from './stored-memory.ts';
export { enqueueThreadMemory, type RenewAgentMemory } from './workers.ts';
