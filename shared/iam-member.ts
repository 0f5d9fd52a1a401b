/** How IAM policies name a person or a service account, by the e-mail. Used where callers are known and where a bootstrap is shared. */
export type IamMember = `user:${string}` | `serviceAccount:${string}`;

export const iamMember = (email: string): IamMember =>
  email.endsWith('.gserviceaccount.com') ? `serviceAccount:${email}` : `user:${email}`;
