/**
 * Names and content types of recordings, and the choice of the recording that a conversation displays
 * (rules/media#video; D27).
 */
import { createHash, randomBytes } from 'node:crypto';
import { removeControlCharacters } from '#libs/infrastructure/text';
import type { RecordingKind } from './contract.ts';

const contentTypes: Readonly<Record<string, string>> = {
  '3gp': 'video/3gpp',
  avi: 'video/x-msvideo',
  m4v: 'video/mp4',
  mkv: 'video/x-matroska',
  mov: 'video/quicktime',
  mp4: 'video/mp4',
  mpeg: 'video/mpeg',
  mpg: 'video/mpeg',
  ogv: 'video/ogg',
  ts: 'video/mp2t',
  webm: 'video/webm',
};
/** Content type of all other extensions. Browsers save such files and never run them. */
const otherContentType = 'application/octet-stream';

export interface RecordingFile {
  name: string;
  extension: string;
  /** Determined by the extension only. */
  contentType: string;
}

/** Returns the base name of a path, and the content type for its extension. */
export function describeRecordingFile(fileName: string): RecordingFile {
  const name = cleanFileName(fileName) || 'recording';
  const extension = /^.+\.([a-z0-9]{1,8})$/iu.exec(name)?.[1]?.toLowerCase() ?? 'bin';
  return {
    name: shortenFileName(name, extension.length),
    extension,
    contentType: Object.hasOwn(contentTypes, extension) ? (contentTypes[extension] as string) : otherContentType,
  };
}

/** Returns a new random key that cannot be guessed. The key is also the path under `/media/`. */
export function newRecordingKey(conversationId: number, extension: string): string {
  return `recordings/${conversationId}/${randomBytes(24).toString('base64url')}.${extension}`;
}

export function newThumbnailKey(conversationId: number): string {
  return `thumbnails/${conversationId}/${randomBytes(24).toString('base64url')}.jpg`;
}

/** Returns the name of the trimmed file, which is always MP4. */
export function trimmedName(fullName: string): string {
  return `${fullName.replace(/\.[a-z0-9]{1,8}$/iu, '')}-trimmed.mp4`;
}

/**
 * Returns the recording to display (D27): a trimmed one that is not finalized, else the full one, else the trimmed one.
 */
export function chooseRecording<R extends { kind: RecordingKind; finalized: boolean }>(
  recordings: readonly R[],
): R | undefined {
  const full = recordings.find(({ kind }) => kind === 'full');
  const trimmed = recordings.find(({ kind }) => kind === 'front_trimmed');
  return trimmed?.finalized === false ? trimmed : (full ?? trimmed);
}

/** Maximum length of a stored name in characters, including the extension. */
const maxNameLength = 200;

/** Returns the last segment of a Unix or Windows path, without control characters. */
export function cleanFileName(fileName: string): string {
  const base = fileName.split(/[/\\]/).at(-1) ?? '';
  return removeControlCharacters(base).trim();
}

/** Shortens a name to 200 characters, without shortening the extension. */
export function shortenFileName(name: string, extensionLength: number): string {
  const characters = Array.from(name);
  if (characters.length <= maxNameLength) return name;
  const tail = characters.slice(-(extensionLength + 1));
  return [...characters.slice(0, maxNameLength - tail.length), ...tail].join('');
}

/** Fields that determine the version marker of an object. */
export interface VersionedObject {
  readonly objectKey: string;
  readonly sha256: string;
}

/** Returns the value of `?v=`, which is different for every object. */
export function versionMarker({ objectKey, sha256 }: VersionedObject): string {
  return createHash('sha256').update(`${objectKey}\n${sha256}`).digest('base64url').slice(0, 16);
}

/** Returns the relative URL of an object that is served without a token (rules/media#video). */
export function mediaUrl(object: VersionedObject): string {
  return `/media/${object.objectKey}?v=${versionMarker(object)}`;
}
