/** Removes objects and incomplete uploads. */
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { ignoreMissing, quickRetry, withRetry } from './client.ts';

/**
 * Aborts every incomplete upload of exactly this key (`uploadId` even if it is not listed) and deletes the object,
 * since a completion whose reply was lost may have created it. No other upload may use the key.
 * @throws AppError `unavailable`
 */
export async function removeUpload(client: S3Client, bucket: string, key: string, uploadId?: string): Promise<void> {
  const uploadIds = new Set(await listUnfinished(client, bucket, key));
  if (uploadId !== undefined) uploadIds.add(uploadId);
  for (const id of uploadIds) {
    const command = new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: id });
    await ignoreMissing(withRetry(() => client.send(command), quickRetry));
  }
  await deleteObject(client, bucket, key);
}

export async function deleteObject(client: S3Client, bucket: string, key: string): Promise<void> {
  await ignoreMissing(withRetry(() => client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key })), quickRetry));
}

/**
 * Returns the ids of incomplete uploads of this key. Some stores (e.g. MinIO) only list them when the prefix is the
 * exact key.
 */
export async function listUnfinished(client: S3Client, bucket: string, key: string): Promise<string[]> {
  const command = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: key });
  const reply = await withRetry(() => client.send(command), quickRetry);
  return (reply.Uploads ?? []).filter((upload) => upload.Key === key).map((upload) => upload.UploadId as string);
}
