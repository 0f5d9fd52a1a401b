# Who is woken by what. Each alert says what it means and which runbook has the first command and the way back.

locals {
  log_alerts = {
    poison = {
      name     = "messages that are none of ours"
      window   = 300
      over     = 0
      document = "Something publishes to a step topic that is not plinth, or a release sends what an older one can't read. The log of the function has the event's id; the message was dropped. Runbook: docs/operate/runbooks.md#poisoned-message"
    }
    deaths = {
      name     = "a step that functions die of"
      window   = 300
      over     = 0
      document = "A step ended its function as often as it may, and was failed. Look for memory and time-outs in the function's log by the bootstrap's id; the same command goes on from what stands. Runbook: docs/operate/runbooks.md#step-kills-function"
    }
    resent = {
      name     = "stuck steps"
      window   = 900
      over     = 12
      document = "Sweep finds something due nearly every minute: functions die, or messages don't arrive. Look at the errors and instances of run-cloud-step and run-host-step, and whether their triggers' subscriptions have a backlog. Runbook: docs/operate/runbooks.md#stuck-steps"
    }
    cleanup_failures = {
      name     = "cleanup can't remove"
      window   = 900
      over     = 2
      document = "Cleanup could not look at, judge or hand over a project several times. Projects go on costing money. Runbook: docs/operate/runbooks.md#cleanup-cannot-remove"
    }
    quarantined = {
      name     = "a removal that is left alone"
      window   = 300
      over     = 0
      document = "A removal failed three times in a row and is tried no more: its machines go on costing money. The log line says why and what to do; `plinth beta bootstrap-cloud cleanup` tries it again. Runbook: docs/operate/runbooks.md#removal-left-alone"
    }
    fuse_failures = {
      name     = "costs can't be found out"
      window   = 300
      over     = 0
      document = "Sweep could not find out what a bootstrap costs, so no ceiling holds for it: it is neither warned nor stopped. The log line says which one and why, and sweep tries again each hour. Runbook: docs/operate/runbooks.md#costs-too-much"
    }
    unknown = {
      name     = "projects or machines of unknown origin"
      window   = 300
      over     = 0
      document = "A project bears our labels, and no record knows it, or a project of a bootstrap has machines that its plan does not hold. Each is told once, and costs money until somebody decides. `plinth beta cleanup list` shows them. Runbook: docs/operate/runbooks.md#unknown-project"
    }
    dry_pools = {
      name     = "a pool is dry"
      window   = 900
      over     = 12
      document = "A pool of prepared projects has had none to give nearly every minute of a quarter of an hour. Bootstraps make their projects themselves, and take longer. The log line says which pool it is, and why. Runbook: docs/operate/runbooks.md#pool-dry"
    }
    not_loaded = {
      name     = "a function can't be loaded"
      window   = 300
      over     = 0
      document = "A setting is faulty or the release is broken; the log of the function names all faults. The lanes' messages wait meanwhile, and come again. Runbook: docs/operate/runbooks.md#function-not-loaded"
    }
  }

  # MATCH over single services: their requests, as Cloud Run counts them.
  requests = "resource.type=\"cloud_run_revision\" AND metric.type=\"run.googleapis.com/request_count\""

  # Of the lanes alone: Eventarc names the subscriptions of its triggers so. Builds of releases have others.
  oldest_message = "resource.type=\"pubsub_subscription\" AND metric.type=\"pubsub.googleapis.com/subscription/oldest_unacked_message_age\" AND resource.label.subscription_id=starts_with(\"eventarc-\")"

  # Requests that an instance had at once, at most, in a minute.
  busy_places = "resource.type=\"cloud_run_revision\" AND metric.type=\"run.googleapis.com/container/max_request_concurrencies\" AND metric.label.state=\"active\" AND resource.label.service_name=\"run-host-step\""
}

resource "google_monitoring_notification_channel" "email" {
  for_each = var.alert_emails

  project      = var.project_id
  display_name = "plinth: ${each.value}"
  type         = "email"
  labels       = { email_address = each.value }

  # An address that goes: the alerts that name it are updated first. Should something else name it, it goes all the same.
  force_delete = true

  lifecycle {
    create_before_destroy = true
  }

  depends_on = [time_sleep.apis]
}

locals {
  channels = [for channel in google_monitoring_notification_channel.email : channel.id]
}

resource "google_monitoring_alert_policy" "log" {
  for_each = local.log_alerts

  project               = var.project_id
  display_name          = "plinth: ${each.value.name}"
  combiner              = "OR"
  notification_channels = local.channels

  conditions {
    display_name = each.value.name

    condition_threshold {
      filter          = "resource.type=\"cloud_run_revision\" AND metric.type=\"logging.googleapis.com/user/${time_sleep.metrics.triggers[each.key]}\""
      comparison      = "COMPARISON_GT"
      threshold_value = each.value.over
      duration        = "0s"

      aggregations {
        alignment_period     = "${each.value.window}s"
        per_series_aligner   = "ALIGN_SUM"
        cross_series_reducer = "REDUCE_SUM"
      }
    }
  }

  documentation {
    content = each.value.document
  }
}

# An absence is one only after there was something: a job that never worked is seen by `scheduled_errors`.
resource "google_monitoring_alert_policy" "late" {
  for_each = {
    cleanup = "Projects past their time go on costing money. Is the job plinth-cleanup paused (`plinth beta cleanup schedule status`)? Does the function fail (its log)? Runbook: docs/operate/runbooks.md#cleanup-late"
    sweep   = "What was lost is not sent again: bootstraps stand still. Is the job plinth-sweep paused or gone? Does the function fail (its log)? Runbook: docs/operate/runbooks.md#sweep-late"
  }

  project               = var.project_id
  display_name          = "plinth: ${each.key} is late"
  combiner              = "OR"
  notification_channels = local.channels

  conditions {
    display_name = "no run of ${each.key} has ended well for 20 minutes"

    condition_absent {
      filter   = "${local.requests} AND resource.label.service_name=\"${each.key}\" AND metric.label.response_code_class=\"2xx\""
      duration = "1200s"

      aggregations {
        alignment_period     = "300s"
        per_series_aligner   = "ALIGN_SUM"
        cross_series_reducer = "REDUCE_SUM"
      }
    }
  }

  documentation {
    content = each.value
  }

  depends_on = [google_cloudfunctions2_function.function]
}

resource "google_monitoring_alert_policy" "scheduled_errors" {
  project               = var.project_id
  display_name          = "plinth: Cloud Scheduler is refused"
  combiner              = "OR"
  notification_channels = local.channels

  conditions {
    display_name = "more than two runs in a quarter of an hour did not end well"

    condition_threshold {
      filter          = "${local.requests} AND metric.label.response_code_class!=\"2xx\" AND resource.label.service_name=one_of(\"${join("\",\"", keys(local.jobs))}\")"
      comparison      = "COMPARISON_GT"
      threshold_value = 2
      duration        = "0s"

      aggregations {
        alignment_period     = "900s"
        per_series_aligner   = "ALIGN_SUM"
        cross_series_reducer = "REDUCE_SUM"
        group_by_fields      = ["resource.label.service_name"]
      }
    }
  }

  documentation {
    content = "Sweep or cleanup answers Cloud Scheduler with an error. 401 or 403: its identity, its audience, or who may invoke the function; 5xx: the function's log has why. Until then nothing is sent again, or nothing is removed. Runbook: docs/operate/runbooks.md#scheduler-refused"
  }

  depends_on = [google_cloudfunctions2_function.function]
}

# Of what people call. The lanes answer 5xx to whatever another delivery may heal: where none does, `not_loaded` or `resent` tells.
resource "google_monitoring_alert_policy" "server_errors" {
  project               = var.project_id
  display_name          = "plinth: answers of 5xx"
  combiner              = "OR"
  notification_channels = local.channels

  conditions {
    display_name = "more than five in five minutes"

    condition_threshold {
      filter          = "${local.requests} AND metric.label.response_code_class=\"5xx\" AND resource.label.service_name=one_of(\"${join("\",\"", local.public_functions)}\")"
      comparison      = "COMPARISON_GT"
      threshold_value = 5
      duration        = "0s"

      aggregations {
        alignment_period     = "300s"
        per_series_aligner   = "ALIGN_SUM"
        cross_series_reducer = "REDUCE_SUM"
        group_by_fields      = ["resource.label.service_name"]
      }
    }
  }

  documentation {
    content = "Every such answer bears a trace id, and the function's log has the rest under it. After a deployment, roll back. Runbook: docs/operate/runbooks.md#server-errors"
  }

  depends_on = [google_cloudfunctions2_function.function]
}

# A message is acknowledged when its step's function has answered: nine minutes at most. What is older was refused again and
# again, or waits for a place.
resource "google_monitoring_alert_policy" "oldest_message" {
  project               = var.project_id
  display_name          = "plinth: messages wait"
  combiner              = "OR"
  notification_channels = local.channels

  conditions {
    display_name = "the oldest message is unacknowledged for more than 20 minutes"

    condition_threshold {
      filter          = local.oldest_message
      comparison      = "COMPARISON_GT"
      threshold_value = 1200
      duration        = "300s"

      aggregations {
        alignment_period     = "60s"
        per_series_aligner   = "ALIGN_MAX"
        cross_series_reducer = "REDUCE_MAX"
        group_by_fields      = ["resource.label.subscription_id"]
      }
    }
  }

  documentation {
    content = "A lane does not take its messages: its function fails, may not be called, or has no place left. Bootstraps stand still. Nothing is lost: messages are kept for a day, and sweep sends again. Runbook: docs/operate/runbooks.md#messages-wait"
  }

  depends_on = [google_cloudfunctions2_function.function]
}

# A place of the host lane is held as long as a function follows a machine. Half of the instances above the threshold: one
# that is full beside an empty one wakes nobody.
resource "google_monitoring_alert_policy" "host_lane_busy" {
  project               = var.project_id
  display_name          = "plinth: the host lane is nearly full"
  combiner              = "OR"
  notification_channels = local.channels

  conditions {
    display_name = "more than four fifths of its places are busy for ten minutes"

    condition_threshold {
      filter          = local.busy_places
      comparison      = "COMPARISON_GT"
      threshold_value = floor(try(coalesce(local.sizes["run-host-step"].concurrency), local.function_table["run-host-step"].concurrency) * 0.8)
      duration        = "600s"

      aggregations {
        alignment_period     = "60s"
        per_series_aligner   = "ALIGN_PERCENTILE_50"
        cross_series_reducer = "REDUCE_MAX"
      }
    }
  }

  documentation {
    content = "So many installs run at once that steps on machines soon wait for a place. They go on, only later. More places: `sizes` of run-host-step. Runbook: docs/operate/runbooks.md#host-lane-busy"
  }

  depends_on = [google_cloudfunctions2_function.function]
}
