/** Settings of the webhook. */
import { ifSet, optional, type Rows, secureUrl, type Values } from '../setting.js';

export const webhookSettings = {
  PLINTH_WEBHOOK_URL: optional(
    secureUrl,
    "Gets the warnings before a project's time is over, and who migrated which team, signed with the secret `plinth-webhook-key`. Unset: nothing is sent.",
  ),
} satisfies Rows;

export interface WebhookConfig {
  /** Gets notices about ends that are near and about migrations of teams. Undefined: nothing is sent. */
  readonly webhookUrl?: string;
}

export const readWebhook = (read: Values<typeof webhookSettings>): WebhookConfig =>
  ifSet('webhookUrl', read.PLINTH_WEBHOOK_URL);
