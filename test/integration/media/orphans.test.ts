import {
  CreateMultipartUploadCommand,
  GetBucketLifecycleConfigurationCommand,
  PutBucketLifecycleConfigurationCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { playBytes, provideFfmpeg, provideTimeoutMs, waitFor } from '#libs/product/testing';
import { media } from '#services/media';
import { startRecordingFixture, type RecordingFixture } from './recording-fixture.ts';

let fixture: RecordingFixture;
beforeAll(async () => {
  fixture = await startRecordingFixture(import.meta.url, await provideFfmpeg());
  await fixture.start({ MEDIA_UPLOAD_LEASE_SECONDS: '8' });
}, provideTimeoutMs);
afterAll(() => fixture.media.stop());

const put = async (key: string): Promise<void> => {
  await fixture.media.store.putStream(key, bytes(), { contentType: 'text/plain' });
};
async function* bytes(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('left behind');
}

async function find(options: { minAge?: number; deletes?: boolean; limit?: number } = {}) {
  const { minAge: min_age_seconds = 0, deletes = false, limit = 500 } = options;
  const found = { orphans: [] as string[], missing: [] as string[], deleted: 0, pages: 0 };
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof ask>> = await ask({ after, min_age_seconds, delete: deletes, limit });
    found.orphans.push(...page.orphans.map(({ key }) => key));
    found.missing.push(...page.missing.map(({ key }) => key));
    found.deleted += page.deleted;
    found.pages += 1;
    after = page.next;
  } while (after !== null);
  return found;
}
const ask = (request: { after: string | null; min_age_seconds: number; delete: boolean; limit: number }) =>
  fixture.media.call(media.rpcs.findOrphans, request);

describe('media orphans (architecture#orphans)', () => {
  it('finds objects without a record and records without an object, and deletes only these objects and only on request', async () => {
    const { id } = await fixture.meet({ content: playBytes(Buffer.alloc(1000, 1), '"a"'), journey: 'plain' });
    await fixture.jobs.waitForState(id);
    const { id: lost } = await fixture.meet({ content: playBytes(Buffer.alloc(1000, 2), '"b"'), journey: 'plain' });
    await fixture.jobs.waitForState(lost);
    const [missing = ''] = await fixture.keys(lost);
    await fixture.media.store.delete(missing);
    await put('recordings/1/orphan.mp4');
    await put('zzz/é/orphan');
    await put('audio/1/uploading.mp3');
    await fixture.media.env.sql(
      `insert into media.uploads (object_key, alive_until) values ('audio/1/uploading.mp3', now() + interval '1 hour')`,
    );

    expect(await find({ minAge: 3600 })).toMatchObject({ orphans: [], missing: [] });
    const expected = { orphans: ['recordings/1/orphan.mp4', 'zzz/é/orphan'], missing: [missing] };
    expect(await find()).toMatchObject({ ...expected, deleted: 0 });
    expect(await find()).toMatchObject(expected);
    expect(await find({ deletes: true })).toMatchObject({ ...expected, deleted: 2 });
    expect(await find()).toMatchObject({ orphans: [], missing: [missing], deleted: 0 });
    expect((await fixture.stored(id, 'recording_full'))[0]?.byteLength).toBe(1000);
    expect(await fixture.media.store.head('audio/1/uploading.mp3')).toBeDefined();
  });

  it('reports no stored object as an orphan at the boundaries of pages', async () => {
    await fixture.media.env.sql(
      `insert into media.blobs (kind, conversation_id, object_key, name, content_type, size_bytes, sha256, source)
       select 'thumbnail', 77, 'thumbnails/77/' || lpad(n::text, 5, '0'), 'n', 'image/jpeg', 1, repeat('0', 64), 'test' from generate_series(1, 104) n`,
    );
    // Pages of 20: one page ends within these objects, and there are more records than a page reads.
    await Promise.all(
      Array.from({ length: 21 }, (_, index) => put(`thumbnails/77/${String(index * 4 + 4).padStart(5, '0')}`)),
    );
    const found = await find({ limit: 20 });
    expect(found.orphans).toEqual([]);
    expect(found.pages).toBeGreaterThan(1);
    expect(found.missing.filter((key) => key.startsWith('thumbnails/77/'))).toHaveLength(104 - 21);
  });
});

describe('unfinished uploads in the store (architecture#orphans; S3 lifecycle rule)', () => {
  let client: S3Client;
  let Bucket: string;
  beforeAll(() => {
    const { settings } = fixture.media.env;
    const credentials = {
      accessKeyId: settings['S3_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: settings['S3_SECRET_ACCESS_KEY'] ?? '',
    };
    client = new S3Client({
      endpoint: settings['S3_ENDPOINT'] ?? '',
      region: 'us-east-1',
      forcePathStyle: true,
      credentials,
    });
    Bucket = settings['S3_BUCKET'] ?? '';
  });
  afterAll(() => client.destroy());
  const readRules = async () => (await client.send(new GetBucketLifecycleConfigurationCommand({ Bucket }))).Rules;
  const notKnown = expect.objectContaining({ name: 'NotImplemented' });

  it('sets no lifecycle rule for unfinished uploads where the store supports none, and keeps existing rules', async () => {
    expect(await fixture.media.store.ensureBucket()).toEqual({ lifecycle: false });
    const own = { ID: 'own', Status: 'Enabled', Filter: { Prefix: 'logs/' }, Expiration: { Days: 7 } } as const;
    const put = new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules: [own] } });
    const problem: unknown = await client.send(put).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(await fixture.media.store.ensureBucket()).toEqual({ lifecycle: false });
    if (problem === undefined) return expect(await readRules()).toEqual([own]);
    expect(problem).toEqual(notKnown);
    await expect(readRules()).rejects.toEqual(notKnown);
  });

  it('removes abandoned uploads with their chunks, and keeps uploads in progress', async () => {
    const begin = async (Key: string, until: string): Promise<void> => {
      const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
      await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: Buffer.alloc(1000) }));
      await fixture.media.env.sql(
        `insert into media.uploads (object_key, alive_until) values ($1, now() + $2::interval)`,
        [Key, until],
      );
    };
    const { store } = fixture.media;
    await begin('audio/2/alive.mp3', '1 hour');
    await begin('audio/2/stale.mp3', '-2 days');
    await waitFor(async () => (await store.countUnfinished('audio/2/stale.mp3')) === 0, { what: 'the sweep' });
    expect(await store.countUnfinished('audio/2/alive.mp3')).toBe(1);
    const left = `select object_key from media.uploads where object_key like 'audio/2/%'`;
    await waitFor(async () => (await fixture.media.env.sql(left)).length === 1);
  });
});
