/** Names and content types of uploaded audio (rules/http#limits; D27). */
import { randomBytes } from 'node:crypto';
import { appError, type AppError } from '#libs/infrastructure/errors';
import { audioExtensions } from '../contract.ts';
import { cleanFileName, shortenFileName } from '../file-names.ts';

type AudioExtension = (typeof audioExtensions)[number];

const contentTypes: Readonly<Record<AudioExtension, string>> = {
  aac: 'audio/aac',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  mp3: 'audio/mpeg',
  oga: 'audio/ogg',
  ogg: 'audio/ogg',
  opus: 'audio/ogg',
  wav: 'audio/wav',
  webm: 'audio/webm',
};

export interface AudioFile {
  name: string;
  extension: AudioExtension;
  /** Determined by the extension only; the client's content type is never used. */
  contentType: string;
}

export function invalidAudio(message: string): AppError {
  return appError('bad_request', 'invalid_conversation_audio', message);
}

/**
 * Returns the base name without path, control and bidirectional-override characters, and the content type for its
 * extension.
 * @throws AppError `invalid_conversation_audio`
 */
export function describeAudioFile(fileName: string): AudioFile {
  const name = cleanFileName(fileName);
  const extension = /^.+\.([^.]+)$/su.exec(name)?.[1]?.toLowerCase();
  if (!isAudioExtension(extension)) {
    throw invalidAudio(`The audio file must have one of these extensions: ${audioExtensions.join(', ')}.`);
  }
  return { name: shortenFileName(name, extension.length), extension, contentType: contentTypes[extension] };
}

/**
 * Returns a new random key that cannot be guessed. The conversation id in the key helps operators to inspect the
 * bucket.
 */
export function newAudioKey(conversationId: number, extension: string): string {
  return `audio/${conversationId}/${randomBytes(24).toString('base64url')}.${extension}`;
}

function isAudioExtension(text: string | undefined): text is AudioExtension {
  return text !== undefined && (audioExtensions as readonly string[]).includes(text);
}
