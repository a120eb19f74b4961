import { Type, type Static } from 'typebox';
import { advanceOnSuccess, type PipelineJob } from './declaration.ts';
import { waitingPolicy } from './waiting-policy.ts';

const config = Type.Object(
  {
    privacy: Type.Union([Type.Literal('private'), Type.Literal('unlisted'), Type.Literal('public')], {
      default: 'unlisted',
      description: 'Who may see the video on the host.',
    }),
    category_id: Type.String({ default: '22', pattern: '^[0-9]{1,4}$', description: "The host's category; 22 = people and blogs." }),
    tags: Type.Array(Type.String({ minLength: 1, maxLength: 60 }), { default: [], maxItems: 15, description: 'Tags of the video.' }),
    set_thumbnail: Type.Boolean({ default: true, description: "Give the host the conversation's first thumbnail." }),
    videohost_refresh_token: Type.Optional(
      Type.String({ minLength: 1, description: 'OAuth refresh token of the channel; set in the workspace file, never shown.' }),
    ),
    advance_on_success: advanceOnSuccess,
  },
  { additionalProperties: false },
);

export type VideohostPublishConfig = Static<typeof config>;

/** Uploads the recording to the video host, once; a recording that is late is waited for. */
export const videohostPublish: PipelineJob<typeof config> = Object.freeze({
  name: 'videohost_publish',
  summary: 'Uploads the recording to the video host with title, description and thumbnail, once.',
  jobType: 'media.videohost-publish',
  policy: {
    ...waitingPolicy,
    timeoutMs: 6 * 3_600_000,
    concurrency: 1,
  },
  config,
  fields: Object.freeze({
    privacy: 'read_write',
    category_id: 'read_write',
    tags: 'read_write',
    set_thumbnail: 'read_write',
    videohost_refresh_token: 'hidden',
    advance_on_success: 'read_write',
  }),
});
