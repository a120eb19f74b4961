/** The import evidence of a conversation, for what installs or removes rows. */
export { type Artifact, decideEvidence, isNews, type RunResult } from './rules.ts';
export { lockConversation } from './statements.ts';
export { lockForWriting, readEvidenceState, saveEvidence } from './store.ts';
