/** Chat and speech to text from an OpenAI-compatible server. */
export { type TextListener, ModelFailure, type ModelUsage } from './failure.ts';
export { createModel, type Model, type Completion, type PromptMessage } from './chat-model.ts';
export { createTranscriber, type TranscriptionSegment, type Transcriber, type Transcription } from './transcription.ts';
export { initialPlainReplies, plainRepliesRequired, type ThinkingHabit } from './thinking-habit.ts';
