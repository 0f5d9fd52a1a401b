/** How IAM policies name a person or a service account by e-mail. */
export type IamMember = `user:${string}` | `serviceAccount:${string}`;

export const iamMember = (email: string): IamMember =>
  email.endsWith('.gserviceaccount.com') ? `serviceAccount:${email}` : `user:${email}`;
