import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  chooseRecording,
  cleanFileName,
  describeRecordingFile,
  mediaUrl,
  newRecordingKey,
  versionMarker,
} from './file-names.ts';

describe('chooseRecording (rules/media#video; D27)', () => {
  const full = { kind: 'full', finalized: false } as const;
  const trimmed = { kind: 'front_trimmed', finalized: false } as const;
  const finalized = { kind: 'front_trimmed', finalized: true } as const;

  it('prefers a trimmed recording that is not finalised, then the full recording, then any other', () => {
    expect(chooseRecording([full, trimmed])).toBe(trimmed);
    expect(chooseRecording([finalized, full])).toBe(full);
    expect(chooseRecording([finalized])).toBe(finalized);
    expect(chooseRecording([full])).toBe(full);
    expect(chooseRecording([])).toBeUndefined();
  });
});

describe('describeRecordingFile', () => {
  it.each([
    ['a/Talk.MP4', 'Talk.MP4', 'mp4', 'video/mp4'],
    ['x.webm', 'x.webm', 'webm', 'video/webm'],
    ['page.html', 'page.html', 'html', 'application/octet-stream'],
    ['noextension', 'noextension', 'bin', 'application/octet-stream'],
    ['x.constructor', 'x.constructor', 'bin', 'application/octet-stream'],
  ])('derives the media type of %s from an allow-list of extensions', (given, name, extension, contentType) => {
    expect(describeRecordingFile(given)).toEqual({ name, extension, contentType });
  });
});

describe('cleanFileName (rules/http#limits; D27)', () => {
  it('removes path separators and control characters from a file name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        expect(cleanFileName(name)).not.toMatch(/[/\\\p{Cc}]/u);
        expect(cleanFileName(name).isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('mediaAddress (rules/media#video: cache-busting marker; unguessable path)', () => {
  it('returns a unique path for each object, with a marker that depends on the object', () => {
    const keys = new Set(Array.from({ length: 100 }, () => newRecordingKey(7, 'mp4')));
    expect(keys.size).toBe(100);
    const [objectKey = ''] = keys;
    expect(mediaUrl({ objectKey, sha256: 'a' })).toMatch(/^\/media\/recordings\/7\/[\w-]{32}\.mp4\?v=[\w-]{16}$/);
    expect(versionMarker({ objectKey, sha256: 'a' })).not.toBe(versionMarker({ objectKey, sha256: 'b' }));
    expect(versionMarker({ objectKey, sha256: 'a' })).not.toBe(
      versionMarker({ objectKey: `${objectKey}x`, sha256: 'a' }),
    );
  });
});
