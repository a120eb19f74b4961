/** What an uploaded audio file may be called, and what it is stored and served as (rules/http#limits; D27). */
import { randomBytes } from 'node:crypto';
import { appError, type AppError } from '#libs/errors';
import { audioExtensions } from '../contract.ts';

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

/** Longest name that is kept, in characters; the extension survives the cut. */
const maxNameLength = 200;

export interface AudioFile {
  name: string;
  extension: AudioExtension;
  /** By the extension alone: what the client claims is never served back. */
  contentType: string;
}

export function invalidAudio(message: string): AppError {
  return appError('bad_request', 'invalid_conversation_audio', message);
}

/**
 * The base name without path, control and bidirectional-override characters, and what follows from its extension.
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

/** Last segment of either kind of path, without characters that have no place in a file name. */
export function cleanFileName(fileName: string): string {
  const base = fileName.split(/[/\\]/).at(-1) ?? '';
  return base
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '')
    .trim();
}

/** A fresh key that cannot be guessed; the conversation's id is there for people who look into the bucket. */
export function newAudioKey(conversationId: number, extension: string): string {
  return `audio/${conversationId}/${randomBytes(24).toString('base64url')}.${extension}`;
}

function isAudioExtension(text: string | undefined): text is AudioExtension {
  return text !== undefined && (audioExtensions as readonly string[]).includes(text);
}

/** At most 200 characters; the extension survives the cut. */
export function shortenFileName(name: string, extensionLength: number): string {
  const characters = Array.from(name);
  if (characters.length <= maxNameLength) return name;
  const tail = characters.slice(-(extensionLength + 1));
  return [...characters.slice(0, maxNameLength - tail.length), ...tail].join('');
}
