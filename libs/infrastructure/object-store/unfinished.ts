/**
 * Reads the state of an interrupted upload from the store: its consecutive complete parts, after which the upload can
 * continue.
 */
import { ListPartsCommand, type S3Client } from '@aws-sdk/client-s3';
import { ignoreMissing, quickRetry, withRetry } from './client.ts';
import { listUnfinished } from './remove-upload.ts';

export interface UploadedPart {
  PartNumber: number;
  ETag: string | undefined;
}

export interface UnfinishedUpload {
  readonly uploadId: string;
  /** Parts 1 to n without gaps, each of full size. */
  readonly parts: readonly UploadedPart[];
  /** Total size of `parts` in bytes. */
  readonly sizeBytes: number;
}

/**
 * Returns the upload of exactly this key with the most complete parts; undefined when no upload has a complete part.
 */
export async function findUnfinished(
  client: S3Client,
  bucket: string,
  key: string,
  partBytes: number,
): Promise<UnfinishedUpload | undefined> {
  let best: UnfinishedUpload | undefined;
  for (const uploadId of await listUnfinished(client, bucket, key)) {
    const parts = await listWholeParts(client, bucket, key, uploadId, partBytes);
    if (parts.length > (best?.parts.length ?? 0)) best = { uploadId, parts, sizeBytes: parts.length * partBytes };
  }
  return best;
}

async function listWholeParts(
  client: S3Client,
  bucket: string,
  key: string,
  uploadId: string,
  partBytes: number,
): Promise<UploadedPart[]> {
  const parts: UploadedPart[] = [];
  let marker: string | undefined;
  for (;;) {
    const command = new ListPartsCommand({
      Bucket: bucket,
      Key: key,
      UploadId: uploadId,
      ...(marker === undefined ? {} : { PartNumberMarker: marker }),
    });
    const page = await ignoreMissing(withRetry(() => client.send(command), quickRetry));
    for (const { PartNumber, ETag, Size } of page?.Parts ?? []) {
      if (PartNumber !== parts.length + 1 || Size !== partBytes) return parts;
      parts.push({ PartNumber, ETag });
    }
    if (page?.IsTruncated !== true || page.NextPartNumberMarker === undefined) return parts;
    marker = page.NextPartNumberMarker;
  }
}
