/** Recordings: what they are stored and served as, and which one a conversation shows (rules/media#video; D27). */
import { createHash, randomBytes } from 'node:crypto';
import { removeControlCharacters } from '#libs/text';
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
/** Of all other extensions; browsers save it and never run it. */
const otherContentType = 'application/octet-stream';

export interface RecordingFile {
  name: string;
  extension: string;
  /** Depends only on the extension. */
  contentType: string;
}

/** The base name of a path, and the content type of its extension. */
export function describeRecordingFile(fileName: string): RecordingFile {
  const name = cleanFileName(fileName) || 'recording';
  const extension = /^.+\.([a-z0-9]{1,8})$/iu.exec(name)?.[1]?.toLowerCase() ?? 'bin';
  return {
    name: shortenFileName(name, extension.length),
    extension,
    contentType: Object.hasOwn(contentTypes, extension) ? (contentTypes[extension] as string) : otherContentType,
  };
}

/** A new random key, which is also the path under `/media/` and cannot be guessed. */
export function newRecordingKey(conversationId: number, extension: string): string {
  return `recordings/${conversationId}/${randomBytes(24).toString('base64url')}.${extension}`;
}

export function newThumbnailKey(conversationId: number): string {
  return `thumbnails/${conversationId}/${randomBytes(24).toString('base64url')}.jpg`;
}

/** The name of the trimmed file, always MP4. */
export function trimmedName(fullName: string): string {
  return `${fullName.replace(/\.[a-z0-9]{1,8}$/iu, '')}-trimmed.mp4`;
}

/** The recording to show (D27): an unfinalised trimmed one, else the full one, else the trimmed one. */
export function chooseRecording<R extends { kind: RecordingKind; finalized: boolean }>(
  recordings: readonly R[],
): R | undefined {
  const full = recordings.find(({ kind }) => kind === 'full');
  const trimmed = recordings.find(({ kind }) => kind === 'front_trimmed');
  return trimmed?.finalized === false ? trimmed : (full ?? trimmed);
}

/** Longest stored name, in characters; the extension is kept. */
const maxNameLength = 200;

/** The last segment of a Unix or Windows path, without control characters. */
export function cleanFileName(fileName: string): string {
  const base = fileName.split(/[/\\]/).at(-1) ?? '';
  return removeControlCharacters(base).trim();
}

/** At most 200 characters; the extension survives the cut. */
export function shortenFileName(name: string, extensionLength: number): string {
  const characters = Array.from(name);
  if (characters.length <= maxNameLength) return name;
  const tail = characters.slice(-(extensionLength + 1));
  return [...characters.slice(0, maxNameLength - tail.length), ...tail].join('');
}

/** What the version marker of an object depends on. */
export interface VersionedObject {
  readonly objectKey: string;
  readonly sha256: string;
}

/** The value of `?v=`, different for every object. */
export function versionMarker({ objectKey, sha256 }: VersionedObject): string {
  return createHash('sha256').update(`${objectKey}\n${sha256}`).digest('base64url').slice(0, 16);
}

/** The relative address of an object that is served without a token (rules/media#video). */
export function mediaUrl(object: VersionedObject): string {
  return `/media/${object.objectKey}?v=${versionMarker(object)}`;
}
