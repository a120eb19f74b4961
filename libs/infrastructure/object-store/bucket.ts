/** The bucket and its lifecycle rule, which removes incomplete uploads. */
import {
  CreateBucketCommand,
  GetBucketLifecycleConfigurationCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  PutBucketLifecycleConfigurationCommand,
  PutObjectCommand,
  S3ServiceException,
  type LifecycleRule,
  type S3Client,
} from '@aws-sdk/client-s3';
import { ignoreMissing, isMissing, isRefused, patientRetry, quickRetry, withRetry } from './client.ts';
import { reachableKey } from './platform-keys.ts';

const ruleId = 'coherence-incomplete-uploads';
const incompleteUploadDays = 2;

/**
 * Creates the bucket if it is missing; another process may create it at the same time. If the credentials lack
 * s3:ListBucket, a write proves that the bucket is usable.
 */
export async function ensureBucket(client: S3Client, bucket: string): Promise<void> {
  await withRetry(async () => {
    try {
      await client.send(new HeadBucketCommand({ Bucket: bucket }));
    } catch (error) {
      if (isRefused(error)) await client.send(new PutObjectCommand({ Bucket: bucket, Key: reachableKey, Body: '' }));
      else if (isMissing(error)) await createBucket(client, bucket);
      else throw error;
    }
  }, patientRetry);
}

/**
 * Checks once that the bucket is reachable. If the bucket cannot be listed, checks the object that `ensureBucket`
 * wrote. @throws the store's error
 */
export async function checkBucket(client: S3Client, bucket: string): Promise<void> {
  try {
    await client.send(new HeadBucketCommand({ Bucket: bucket }));
  } catch (error) {
    if (!isRefused(error)) throw error;
    await ignoreMissing(client.send(new HeadObjectCommand({ Bucket: bucket, Key: reachableKey })));
  }
}

async function createBucket(client: S3Client, bucket: string): Promise<void> {
  try {
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
  } catch (error) {
    if (!(error instanceof S3ServiceException) || !error.name.startsWith('BucketAlready')) throw error;
  }
}

/**
 * Adds a rule that aborts uploads left incomplete for two days, and preserves existing rules.
 * @returns false when the store does not support or permit such rules; then only the sweeper of the media service
 * removes uploads
 */
export async function ensureLifecycle(client: S3Client, bucket: string): Promise<boolean> {
  return withRetry(async () => {
    try {
      const rules = await listRules(client, bucket);
      if (rules.some((rule) => rule.ID === ruleId)) return true;
      const rule: LifecycleRule = {
        ID: ruleId,
        Status: 'Enabled',
        Filter: { Prefix: '' },
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: incompleteUploadDays },
      };
      await client.send(
        new PutBucketLifecycleConfigurationCommand({
          Bucket: bucket,
          LifecycleConfiguration: { Rules: [...rules, rule] },
        }),
      );
      return true;
    } catch (error) {
      const status = error instanceof S3ServiceException ? (error.$metadata.httpStatusCode ?? 500) : 500;
      if (status === 501 || (status >= 400 && status < 500)) return false;
      throw error;
    }
  }, quickRetry).catch(() => false);
}

async function listRules(client: S3Client, bucket: string): Promise<LifecycleRule[]> {
  const found = await ignoreMissing(client.send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket })));
  return found?.Rules ?? [];
}
