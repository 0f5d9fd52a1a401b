# One topic a lane: function triggers can't filter by attribute, nor take a dead-letter policy, so a step's own budget of
# attempts ends what is poisoned.

locals {
  topics = {
    cloud = "plinth-cloud-steps"
    host  = "plinth-host-steps"
  }
}

resource "google_pubsub_topic" "lane" {
  for_each = local.topics

  project = var.project_id
  name    = each.value
  # A message is only a hint, and sweep sends it again: what is a day old is worth nothing.
  message_retention_duration = "86400s"

  message_storage_policy {
    allowed_persistence_regions = [var.region]
  }

  depends_on = [time_sleep.apis]
}
