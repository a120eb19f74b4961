/** Addresses of what is served without a token (rules/media#video). */
import { createHash } from 'node:crypto';

/** An object as its marker sees it. */
export interface MarkedObject {
  readonly objectKey: string;
  readonly sha256: string;
}

/** The value of `?v=`: another object, another marker. */
export function markerOf({ objectKey, sha256 }: MarkedObject): string {
  return createHash('sha256').update(`${objectKey}\n${sha256}`).digest('base64url').slice(0, 16);
}

/** The relative address of an object that is served without a token. */
export function mediaAddress(object: MarkedObject): string {
  return `/media/${object.objectKey}?v=${markerOf(object)}`;
}
