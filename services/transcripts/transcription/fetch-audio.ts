/** The canonical audio from the media service's internal HTTP onto the disk, hashed on its way. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { unavailable } from '#libs/errors';
import type { Bus, CallContext } from '#libs/nats';
import { OutboundError, type Outbound } from '#libs/outbound';
import { maxAudioBytes, media, mediaPaths } from '#services/media';

const fetchTimeoutMs = 1_800_000;

/** @returns SHA-256 and size of the bytes. @throws AppError unavailable; the signal's reason */
export async function fetchAudio(
  { bus, outbound, mediaUrl }: { bus: Bus; outbound: Outbound; mediaUrl: string },
  conversationId: number,
  file: string,
  options: { context: CallContext; signal: AbortSignal; onProgress: (bytes: number) => void },
): Promise<{ sha256: string; bytes: number }> {
  const { context, signal, onProgress } = options;
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    const { ticket } = await bus.call(media.rpcs.issueDownloadTicket, { conversation_id: conversationId }, context);
    const reply = await outbound.request({
      url: new URL(mediaPaths.conversationAudio(conversationId), mediaUrl).href,
      headers: { 'request-id': context.requestId, ticket },
      maxBytes: maxAudioBytes,
      timeoutMs: fetchTimeoutMs,
      signal,
    });
    if (reply.status !== 200) {
      reply.discard();
      throw unavailable(`the media service answered ${reply.status} for the audio`);
    }
    const counted = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of reply.body) {
        hash.update(chunk);
        bytes += chunk.byteLength;
        onProgress(bytes);
        yield chunk;
      }
    };
    await pipeline(counted, createWriteStream(file), { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OutboundError) throw unavailable(`the audio could not be fetched: ${error.message}`);
    throw error;
  }
  return { sha256: hash.digest('hex'), bytes };
}
