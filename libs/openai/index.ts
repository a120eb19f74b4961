/** An OpenAI-compatible server as the platform uses it: chat and speech to text. The only importer of the client. */
export { type Listener, ModelFailure, type ModelUsage } from './failure.ts';
export { createModel, type Model, type ModelAnswer, type PromptMessage } from './chat-model.ts';
export { createTranscriber, type SpokenSegment, type Transcriber, type Transcription } from './transcription.ts';
export { initialPlainAnswers, plainAnswers, type ThinkingHabit } from './thinking-habit.ts';
