import { describe, expect, it } from '@jest/globals';
import { markerOf, mediaAddress } from './media-address.ts';
import { newRecordingKey } from './recording-file.ts';

describe('mediaAddress (rules/media#video: cache-busting marker; unguessable path)', () => {
  it('has a fresh path for each object and a marker that follows the object', () => {
    const keys = new Set(Array.from({ length: 100 }, () => newRecordingKey(7, 'mp4')));
    expect(keys.size).toBe(100);
    const [objectKey = ''] = keys;
    expect(mediaAddress({ objectKey, sha256: 'a' })).toMatch(/^\/media\/recordings\/7\/[\w-]{32}\.mp4\?v=[\w-]{16}$/);
    expect(markerOf({ objectKey, sha256: 'a' })).not.toBe(markerOf({ objectKey, sha256: 'b' }));
    expect(markerOf({ objectKey, sha256: 'a' })).not.toBe(markerOf({ objectKey: `${objectKey}x`, sha256: 'a' }));
  });
});
