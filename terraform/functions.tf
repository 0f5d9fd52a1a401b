# The functions, from the table in function-table.tf.

locals {
  public_functions = ["api", "bootstraps"]
  sizes            = { for name, row in local.function_table : name => try(var.sizes[name], {}) }
}

resource "google_cloudfunctions2_function" "function" {
  for_each = local.function_table

  project     = var.project_id
  location    = var.region
  name        = each.key
  description = "plinth ${var.release}"

  build_config {
    runtime           = "nodejs24"
    entry_point       = each.key
    docker_repository = google_artifact_registry_repository.functions.id
    service_account   = local.identities["builder"].id

    # The base image is mended without another deployment.
    automatic_update_policy {}

    source {
      storage_source {
        bucket = var.release_bucket
        object = "releases/${var.release}/${each.key}.zip"
      }
    }
  }

  service_config {
    service_account_email            = local.identities[local.account_of[each.key]].email
    available_memory                 = coalesce(try(local.sizes[each.key].memory, null), each.value.memory)
    available_cpu                    = each.value.cpu
    timeout_seconds                  = each.value.timeout
    max_instance_request_concurrency = try(coalesce(local.sizes[each.key].concurrency), each.value.concurrency)
    min_instance_count               = try(coalesce(local.sizes[each.key].min_instances), each.value.min)
    max_instance_count               = try(coalesce(local.sizes[each.key].max_instances), each.value.max)
    ingress_settings                 = each.value.ingress
    # A roll-back moves traffic to the revision before; the next apply moves it to the newest again.
    all_traffic_on_latest_revision = true
    environment_variables          = local.environments[each.key]
  }

  dynamic "event_trigger" {
    for_each = each.value.topic == null ? [] : [each.value.topic]
    content {
      trigger_region        = var.region
      event_type            = "google.cloud.pubsub.topic.v1.messagePublished"
      pubsub_topic          = google_pubsub_topic.lane[event_trigger.value].id
      service_account_email = local.identities["eventarc"].email
      # A function throws only what another delivery may heal, and every step has its own budget of attempts.
      retry_policy = "RETRY_POLICY_RETRY"
    }
  }

  depends_on = [time_sleep.builder, time_sleep.eventarc]
}
