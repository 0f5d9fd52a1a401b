/** The port in a VM's network where its way out begins. */
export const outboundPort = 1080;
