/**
 * Speech to text from an OpenAI-compatible server (rules/providers#language-models). Requests `verbose_json` if the
 * server supports it, otherwise text only.
 */
import { toStorableText } from '#libs/infrastructure/json';
import { type ClientSettings, ModelFailure } from './failure.ts';
import { createLazyClient } from './chat-model.ts';

/** Unvalidated segment; times in seconds from the start of the file. */
export interface TranscriptionSegment {
  readonly start: unknown;
  readonly end: unknown;
  readonly text: unknown;
}

export interface Transcription {
  /** Undefined when the server returns text only. */
  readonly segments: readonly TranscriptionSegment[] | undefined;
  readonly text: string;
}

export interface AudioFile {
  readonly bytes: Uint8Array;
  /** File name with the extension of its format. */
  readonly name: string;
  readonly contentType: string;
  /** ISO 639-1; empty for automatic detection. */
  readonly language: string;
  /** Words that are likely in the speech; can be empty. */
  readonly prompt: string;
}

export interface Transcriber {
  /**
   * Returns the text and segments of the file. Makes at most two attempts and ends when the signal is aborted.
   * @throws ModelFailure
   */
  transcribe(file: AudioFile, signal: AbortSignal): Promise<Transcription>;
}

export interface TranscriberSettings extends ClientSettings {
  readonly model: string;
}

export function createTranscriber(settings: TranscriberSettings): Transcriber {
  const open = createLazyClient(settings);
  /** False once the server has rejected `verbose_json`. */
  let isVerbose = true;

  async function request(file: AudioFile, signal: AbortSignal): Promise<unknown> {
    const { client, toFile } = await open();
    const shared = {
      file: await toFile(file.bytes, file.name, { type: file.contentType }),
      model: settings.model,
      ...(file.language === '' ? {} : { language: file.language }),
      ...(file.prompt === '' ? {} : { prompt: file.prompt }),
    };
    if (!isVerbose) return client.audio.transcriptions.create({ ...shared, response_format: 'json' }, { signal });
    return client.audio.transcriptions.create(
      { ...shared, response_format: 'verbose_json', timestamp_granularities: ['segment'] },
      { signal },
    );
  }

  return {
    transcribe: async (file, signal) => {
      const { toFailure } = await open();
      let reply: unknown;
      try {
        reply = await request(file, signal);
      } catch (error) {
        const failure = toFailure(error, signal);
        if (!isVerbose || (failure.status !== 400 && failure.status !== 422)) throw failure;
        isVerbose = false;
        try {
          reply = await request(file, signal);
        } catch (retryError) {
          isVerbose = true;
          throw toFailure(retryError, signal);
        }
      }
      return readReply(reply);
    },
  };
}

function readReply(reply: unknown): Transcription {
  const { text: given, segments } = (typeof reply === 'object' && reply !== null ? reply : {}) as {
    text?: unknown;
    segments?: unknown;
  };
  if (typeof given !== 'string') throw new ModelFailure('unreadable', 'the response is not a transcription');
  const text = toStorableText(given); // D75
  if (!Array.isArray(segments)) return { text, segments: undefined };
  // Some servers send an empty list with the text.
  if (segments.length === 0 && text.trim() !== '') return { text, segments: undefined };
  return { text, segments: segments.map(toSegment) };
}

function toSegment(item: unknown): TranscriptionSegment {
  const { start, end, text } = (typeof item === 'object' && item !== null ? item : {}) as Record<string, unknown>;
  return { start, end, text: typeof text === 'string' ? toStorableText(text) : text };
}
