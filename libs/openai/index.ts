/** An OpenAI-compatible server as the platform uses it: chat and speech to text. The only importer of the client. */
export { type TextListener, ModelFailure, type ModelUsage } from './failure.ts';
export { createModel, type Model, type Completion, type PromptMessage } from './chat-model.ts';
export { createTranscriber, type TranscriptionSegment, type Transcriber, type Transcription } from './transcription.ts';
export { initialPlainReplies, plainRepliesRequired, type ThinkingHabit } from './thinking-habit.ts';
