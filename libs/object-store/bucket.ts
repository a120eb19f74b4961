/** Bucket and its rule for uploads that nobody finished. */
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
 * Creates the bucket when it is missing; somebody else creating it at the same time is fine. Credentials that may not ask for a bucket
 * (s3:ListBucket) show that they may write to it.
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

/** One look at the bucket, or at the object that `ensureBucket` left where the bucket may not be asked for. @throws the store's error */
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
 * Adds the rule that ends uploads left incomplete for two days, beside the rules that are there.
 * @returns false when the store knows no such rule or does not let us set it: the sweep of the owner is then the only one.
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
        new PutBucketLifecycleConfigurationCommand({ Bucket: bucket, LifecycleConfiguration: { Rules: [...rules, rule] } }),
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
