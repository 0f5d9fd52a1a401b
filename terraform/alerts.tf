# Who is woken by what. Each alert says what it means and where to look.

locals {
  log_alerts = {
    poison = {
      name     = "messages that are none of ours"
      window   = 300
      over     = 0
      document = "Something publishes to a step topic that is not plinth, or a release sends what an older one can't read. The log of the function has the event's id; the message was dropped."
    }
    deaths = {
      name     = "a step that functions die of"
      window   = 300
      over     = 0
      document = "A step ended its function as often as it may, and was failed. Look for memory and time-outs in the function's log by the bootstrap's id; the same command goes on from what stands."
    }
    resent = {
      name     = "stuck steps"
      window   = 900
      over     = 12
      document = "Sweep finds something due nearly every minute: functions die, or messages don't arrive. Look at the errors and instances of run-cloud-step and run-host-step, and whether their triggers' subscriptions have a backlog."
    }
    cleanup_failures = {
      name     = "cleanup can't remove"
      window   = 900
      over     = 2
      document = "Cleanup could not look at, judge or hand over a project several times. Projects go on costing money. docs/operate/operations.md says how to look at one and how to remove it."
    }
    quarantined = {
      name     = "a removal that is left alone"
      window   = 300
      over     = 0
      document = "A removal failed three times in a row and is tried no more: its machines go on costing money. The log line says why and what to do; `plinth beta bootstrap-cloud cleanup` tries it again. docs/operate/operations.md has the rest."
    }
    not_loaded = {
      name     = "a function can't be loaded"
      window   = 300
      over     = 0
      document = "A setting is faulty or the release is broken; the log of the function names all faults. The lanes' messages wait meanwhile, and come again. Roll back: docs/operate/deploy.md."
    }
  }

  # MATCH over single services: their requests, as Cloud Run counts them.
  requests = "resource.type=\"cloud_run_revision\" AND metric.type=\"run.googleapis.com/request_count\""
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
    cleanup = "Projects past their time go on costing money. Is the job plinth-cleanup paused (`plinth beta cleanup schedule status`)? Does the function fail (its log)? docs/operate/operations.md has the rest."
    sweep   = "What was lost is not sent again: bootstraps stand still. Is the job plinth-sweep paused or gone? Does the function fail (its log)?"
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
    content = "Sweep or cleanup answers Cloud Scheduler with an error. 401 or 403: its identity, its audience, or who may invoke the function; 5xx: the function's log has why. Until then nothing is sent again, or nothing is removed."
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
    content = "Every such answer bears a trace id, and the function's log has the rest under it. After a deployment: roll back, docs/operate/deploy.md."
  }

  depends_on = [google_cloudfunctions2_function.function]
}
