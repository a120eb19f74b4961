/**
 * Uploads of the logo of an experience (rules/media#logo; D51). The caller is authorized before any byte is read. When
 * the upload fails before the image is stored, the previous logo remains.
 */
import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { ReplyOf, RequestOf } from '#libs/infrastructure/contract';
import { AppError, unavailable } from '#libs/infrastructure/errors';
import { IdempotencyStore } from '#libs/infrastructure/idempotency';
import { parseJson } from '#libs/infrastructure/json';
import { type CallContext, type RawJson, TaggedReply } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { directory } from '#services/directory';
import type { Dependencies } from '../dependencies.ts';
import { mediaUrl } from '../file-names.ts';
import { scheduleBlobDeletion } from '../files.ts';
import { type Exchange, receiveFile, replayedHeader, sendJson } from '../http/index.ts';
import { maxLogoBytes } from '../schemas.ts';
import { acquireUploadLease, discardUpload, finishUpload, uploadExpired } from '../upload-leases/index.ts';
import { createLogoImages, invalidLogo, type LogoImages, newLogoKey } from './logo-image.ts';
import { insertLogo, lockLogo, type NewLogo, retireLogo } from './statements.ts';

type UploadLogoDependencies = Pick<
  Dependencies,
  'config' | 'db' | 'bus' | 'jobs' | 'store' | 'logger' | 'requestSweep'
>;

interface LogoDependencies extends UploadLogoDependencies {
  readonly idempotency: IdempotencyStore;
  readonly images: LogoImages;
}

type LogoReply = ReplyOf<typeof directory.rpcs.checkExperienceLogo>;

/** Delay of the job that sets the logo. The job does nothing when the direct call succeeded. */
const fallbackDelayMs = 10_000;
/** Operation name of idempotency records (I1). */
const operation = 'media.logos.upload';
/** The directory authorized the caller before the upload. */
const alreadyAuthorized = { isAuthorized: true } as const;

export function createUploadLogo(
  dependencies: UploadLogoDependencies,
): (exchange: Exchange, holonId: number) => Promise<void> {
  const deps: LogoDependencies = {
    ...dependencies,
    idempotency: new IdempotencyStore(dependencies.jobs),
    images: createLogoImages(),
  };
  let running = 0;
  return async (exchange, holonId) => {
    // Limits memory use, as each upload takes up to 5 MiB.
    if (running >= deps.config.MEDIA_MAX_UPLOADS) throw unavailable('Too many uploads at the same time');
    running += 1;
    try {
      const reply = await acceptLogo(deps, exchange, holonId);
      const isReplayed = reply instanceof TaggedReply;
      const body = isReplayed ? parseJson(Buffer.from(reply.body.bytes).toString('utf8')) : reply;
      await sendJson(exchange.request, exchange.response, 200, body, isReplayed ? replayedHeader : {});
    } finally {
      running -= 1;
    }
  };
}

async function acceptLogo(
  deps: LogoDependencies,
  { request, context, idempotencyKey }: Exchange,
  holonId: number,
): Promise<LogoReply | TaggedReply<RawJson>> {
  const before = await deps.bus.call(directory.rpcs.checkExperienceLogo, { experience_id: holonId }, context);
  const form = {
    part: 'logo',
    maxFileBytes: maxLogoBytes,
    tooLarge: () => invalidLogo('The logo is larger than 5 MB (5 242 880 bytes).'),
  };
  const file = await receiveFile(request, form, async ({ fileName, body }) => ({
    fileName,
    bytes: await collect(body),
  }));
  const call = { subject: operation, actor: context.actor, idempotencyKey };
  // The fingerprint contains the fields of the form, not its encoding (I4).
  const fingerprint = {
    experience_id: holonId,
    logo: { file_name: file.fileName, sha256: hash('sha256', file.bytes) },
  };
  const stored = await deps.idempotency.find(call, fingerprint);
  if (stored !== undefined) return stored;
  const image = await deps.images
    .reencode(file.bytes)
    .catch((error: unknown) => deps.idempotency.run(call, fingerprint, () => rejectWith(error), alreadyAuthorized));
  if (image instanceof TaggedReply) return image;
  const replyWithLogo = (url: string | null): LogoReply => ({ experience: { ...before.experience, logo_url: url } });
  const lease = await acquireUploadLease(deps, newLogoKey(holonId, image.extension));
  const { objectKey } = lease;
  try {
    const { contentType } = image;
    const stored = await deps.store.putStream(objectKey, singleChunk(image.bytes), { contentType, signal: lease.lost });
    const name = `logo.${image.extension}`;
    const url = mediaUrl({ objectKey, sha256: stored.sha256 });
    const logo = { holonId, objectKey, name, contentType, ...stored, ...readUploader(context) };
    const settings: LogoSetting[] = [];
    const commit = async (tx: Tx): Promise<LogoReply> => {
      settings.push(await commitLogo(deps, tx, logo, url, context));
      return replyWithLogo(url);
    };
    const reply = await deps.idempotency.run(call, fingerprint, commit, alreadyAuthorized);
    const setting = settings.at(-1);
    // A concurrent request with the same key was faster.
    if (reply instanceof TaggedReply || setting === undefined) {
      await discardUpload(deps, lease);
      return reply;
    }
    lease.close();
    return replyWithLogo(await setLogoInDirectory(deps, setting, context));
  } catch (error) {
    await discardUpload(deps, lease);
    throw error;
  }
}

/** Stores a rejection as the idempotent result. */
function rejectWith(error: unknown): Promise<never> {
  return Promise.reject(error);
}

async function collect(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function* singleChunk(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function readUploader({ actor }: CallContext): { accountId: number | null; personId: number | null } {
  return actor?.kind === 'user'
    ? { accountId: actor.accountId, personId: actor.personId }
    : { accountId: null, personId: null };
}

type LogoSetting = RequestOf<typeof directory.rpcs.setExperienceLogo>;

/** Stores the record, retires the previous logo and enqueues the job that sets the logo, in one transaction. */
async function commitLogo(
  deps: LogoDependencies,
  tx: Tx,
  logo: NewLogo,
  url: string,
  { requestId, traceparent, actor, via }: CallContext,
): Promise<LogoSetting> {
  const origin = { requestId, traceparent };
  if ((await finishUpload(tx, logo)) === undefined) throw uploadExpired();
  await lockLogo(tx, logo);
  const retired = await retireLogo(tx, logo);
  const { id } = await insertLogo(tx, logo);
  const ids = retired.map((row) => row.id);
  await scheduleBlobDeletion(deps, tx, ids, origin);
  const changedBy =
    actor?.kind === 'user'
      ? {
          changed_by: {
            account_id: actor.accountId,
            key_id: actor.key?.id ?? null,
            ...(via === undefined ? {} : { via }),
          },
        }
      : {};
  const setting = { experience_id: logo.holonId, blob_id: id, logo_url: url, ...changedBy };
  await deps.jobs.enqueue(tx, directory.jobs.setExperienceLogo, setting, { ...origin, delayMs: fallbackDelayMs });
  return setting;
}

/**
 * Sets the logo in the directory. When the call fails, the job sets the logo later and the client still receives a
 * success. The call uses the service's own account, because an upload can outlive the client's assertion.
 * @returns the logo of the experience
 */
async function setLogoInDirectory(
  deps: LogoDependencies,
  setting: LogoSetting,
  { requestId, traceparent }: CallContext,
): Promise<string | null> {
  try {
    return (await deps.bus.call(directory.rpcs.setExperienceLogo, setting, { requestId, traceparent })).logo_url;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') throw error;
    deps.logger.warn({ err: error, requestId }, 'failed to set the logo in the directory, leaving it to the job');
    return setting.logo_url;
  }
}
